// Step 6: predictions of another table, as a CSV file and with its first rows on the page.
import { byId, dataTable, element, replace } from "./elements.js";
import { count, counted, size } from "./numbers.js";
import { giveUp, runJob, runJson, sayProblem } from "./jobs.js";
import { firstRecords } from "./csv_preview.js";
import { labelColumn, labelIsNominal, page, when } from "./page.js";
import { headersOfFile, request } from "./server.js";
import { modelQuery } from "./settings.js";
import { classesLack, forgetModel, growTree } from "./tree.js";

const SHOWN = 8;
const PREVIEW_BYTES = 65536;

let address = null;   // of the predictions in this tab's memory
let made = "";        // settings of the k-NN model that the server has

function clear() {
  giveUp("predict");
  if (address !== null) URL.revokeObjectURL(address);
  address = null;
  byId("predict-result").hidden = true;
  for (const id of ["predict-words", "predict-problem"]) replace(byId(id));
}

function forgetNeighbours() {
  forgetModel(page.knn);
  page.knn = null;
  made = "";
}

async function fitNeighbours() {
  const query = { ...modelQuery(), kind: labelIsNominal() ? "classify" : "regress", n_neighbors: byId("predict-k").value };
  const wanted = JSON.stringify(query);
  if (page.knn && made === wanted) return page.knn;
  forgetNeighbours();
  const info = await runJson("predict", "Fitting the model", "/models/fit", { query });
  if (info === null) return null;
  page.knn = info.name;
  made = wanted;
  return page.knn;
}

async function model() {
  if (byId("predict-model").value === "knn") return fitNeighbours();
  if (page.tree || (await growTree("predict"))) return page.tree;
  return null;
}

async function predict(event) {
  event.preventDefault();
  clear();
  const [file] = byId("predict-file").files;
  if (labelColumn() === null) {
    sayProblem("predict", Object.assign(new Error("Choose the label first: the column to predict."), { forPeople: true }));
    return;
  }
  const table = page.table;
  const name = await model();
  if (name === null || page.table !== table) return;
  const proba = byId("proba").checked && labelIsNominal();
  const blob = await runJob("predict", `Predicting ${file.name}`, async (headers, signal) => {
    const answer = await request(`/models/${encodeURIComponent(name)}/predict`, {
      method: "POST", query: { proba: proba ? "true" : "" }, body: file, signal,
      headers: { ...headersOfFile(file), Accept: "text/csv", ...headers },
    });
    try {
      return await answer.blob();
    } catch {
      throw Object.assign(new Error("The predictions broke off before their end. Nothing was kept of them."), { forPeople: true });
    }
  });
  if (blob !== null && page.table === table) await show(blob, `${file.name.replace(/\.[^.]*$/, "")}-predictions.csv`);
}

async function countLines(blob) {
  let lines = 0;
  const reader = blob.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return lines;
    for (const byte of value) lines += byte === 10 ? 1 : 0;
  }
}

async function show(blob, name) {
  address = URL.createObjectURL(blob);
  const [head, ...rows] = firstRecords(await blob.slice(0, PREVIEW_BYTES).text(), SHOWN + 1);
  const lines = Math.max(0, (await countLines(blob)) - 1);
  const link = element("a", { class: "main-button", href: address, download: name }, "Download the predictions");
  replace(byId("predict-words"), element("strong", {}, `${counted(lines, "row")} predicted.`), ` ${name} has ${size(blob.size)}.`);
  const shown = rows.slice(0, SHOWN).map((row, i) => [count(i + 1), ...row]);
  replace(byId("predict-result"), link,
    element("div", { class: "scroll", role: "region", "aria-label": "First predictions", tabindex: "0" },
      element("table", {}, ...dataTable("The first predictions", ["Row", ...(head ?? [])], shown, [0]))),
    lines > SHOWN ? element("p", { class: "hint" }, `The first ${SHOWN} are shown.`) : "");
  byId("predict-result").hidden = false;
  link.focus();
}

function adapt() {
  const label = labelColumn();
  const classes = classesLack() === "";
  byId("proba-field").hidden = label !== null && !labelIsNominal();
  const tree = byId("predict-model").querySelector('[value="tree"]');
  tree.disabled = !classes;
  if (!classes) byId("predict-model").value = "knn";
  byId("predict-k").disabled = byId("predict-model").value !== "knn";
}

export function startPredictions() {
  byId("predict").addEventListener("submit", predict);
  byId("predict-model").addEventListener("change", adapt);
  byId("predict-file").addEventListener("change", clear);
  when("k", (k) => { byId("predict-k").value = k; });
  when("table", () => { clear(); forgetNeighbours(); adapt(); });
  when("roles", () => { clear(); forgetNeighbours(); adapt(); });
}
