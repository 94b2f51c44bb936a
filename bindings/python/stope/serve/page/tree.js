// Step 4: a tree is grown by the server, and drawn here.
import { byId, element, replace } from "./elements.js";
import { count, counted } from "./numbers.js";
import { giveUp, runJson } from "./jobs.js";
import { legend } from "./class_colors.js";
import { labelColumn, labelIsNominal, page, tableQuery, when } from "./page.js";
import { missingQuery } from "./missing.js";
import { json, request } from "./server.js";
import { drawTree } from "./tree_drawing.js";

const modelPath = () => `/models/${encodeURIComponent(page.tree)}`;

export function forgetModel(name) {
  if (name) request(`/models/${encodeURIComponent(name)}`, { method: "DELETE" }).catch(() => {});
}

function clear() {
  giveUp("tree");
  forgetModel(page.tree);
  page.tree = null;
  byId("tree-result").hidden = true;
  for (const id of ["tree-words", "tree-problem"]) replace(byId(id));
}

/** Says what a step with classes lacks, or "". */
export function classesLack() {
  const label = labelColumn();
  if (label === null) return "Choose the label first: under “Nearest neighbours”, or by its role under “Columns”.";
  if (!labelIsNominal()) return `“${label.name}” has numbers. This step needs a label of classes.`;
  return "";
}

function sayNeeds() {
  const lack = classesLack();
  replace(byId("tree-needs"), lack);
  byId("tree-needs").hidden = lack === "";
  byId("grow").querySelector("button").disabled = lack !== "";
}

/** Fits a tree as the form says and keeps it as the page's tree. */
export async function growTree(step = "tree") {
  const form = { max_depth: byId("max_depth").value, min_samples_leaf: byId("min_samples_leaf").value };
  const query = { ...tableQuery(), ...missingQuery("tree"), kind: "tree", ...form };
  const info = await runJson(step, "Growing the tree", "/models/fit", { query });
  if (info === null) return false;
  forgetModel(page.tree);
  page.tree = info.name;
  return true;
}

async function grow(event) {
  event.preventDefault();
  clear();
  const table = page.table;
  if (!(await growTree()) || page.table !== table) return;
  const tree = await runJson("tree", "Drawing the tree", `${modelPath()}/text/json`, { method: "GET" });
  if (tree !== null && page.table === table) show(tree);
}

const typeOf = (name) => page.table.columns.find((column) => column.name === name)?.type;

const listed = (names, most) => names.slice(0, most).join(", ") + (names.length > most ? ` and ${counted(names.length - most, "more column")}` : "");

function show(tree) {
  const asked = [...new Set(tree.nodes.filter((node) => node.name !== undefined).map((node) => node.name))];
  const leaves = `${count(tree.n_leaves)} ${tree.n_leaves === 1 ? "leaf" : "leaves"}`;
  replace(byId("tree-words"),
    element("strong", {}, `${leaves}, at most ${counted(tree.max_depth, "question")} deep.`),
    asked.length > 0 ? ` The questions are about ${listed(asked, 6)}.` : " No question tells the classes apart.");
  const { picture, leftOut } = drawTree({ ...tree, typeOf });
  const rules = element("pre", { tabindex: "0", role: "region", "aria-label": "Rules of the tree" });
  const words = element("details", { class: "more" }, element("summary", {}, "The tree as rules"), rules);
  words.addEventListener("toggle", async () => {
    if (!words.open || rules.textContent !== "") return;
    const answer = request(`${modelPath()}/text/rules`, { headers: { Accept: "text/plain" } });
    replace(rules, await answer.then((found) => found.text()).catch((error) => error.message));
  });
  replace(byId("tree-result"), legend(tree.classes),
    element("div", { class: "scroll drawn", role: "region", "aria-label": "Picture of the tree", tabindex: "0" }, picture),
    leftOut > 0 ? element("p", { class: "hint" }, `${count(leftOut)} nodes further down are left out of the picture. The rules have them all.`) : "",
    byId("tree-missing").offsetParent !== null && tree.missing === "value" ? element("p", { class: "hint" }, "A missing number goes where the smallest numbers go.") : "",
    words,
    asked.some((name) => typeOf(name) === "date") ? element("p", { class: "hint" }, "The rules have dates as days since 1970-01-01.") : "");
  byId("tree-result").hidden = false;
}

export function startTree() {
  byId("grow").addEventListener("submit", grow);
  when("table", () => { clear(); sayNeeds(); });
  when("roles", () => { clear(); sayNeeds(); });
}
