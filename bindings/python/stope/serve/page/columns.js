// Step 2: the columns with their types, roles, missing values, statistics and a small picture each.
import { byId, element, fillSelect, replace } from "./elements.js";
import { count, counted, percent, valueOf } from "./numbers.js";
import { runJson } from "./jobs.js";
import { isNominal, page, roleOf, tell, when } from "./page.js";
import { barsPicture, noPicture } from "./small_bars.js";
import { records } from "./server.js";

const AT_ONCE = 100;           // rows of the table on the page; thousands would make every click slow
const MOST_STATISTICS = 50000;  // columns: about 10 MB of answer
const MOST_HISTOGRAMS = 12000;  // columns of numbers
const MOST_VALUES = 100000;     // values of all nominal columns together
const BINS = 16;

const ROLES = [["regular", "feature"], ["label", "label"], ["id", "id"], ["weight", "weight"], ["ignore", "left out"]];

let shownRows = AT_ONCE;
let pictures = new Map();
let leftOut = [];

const HEADS = ["Column", "Type", "Role", "Distribution", "Missing", "Mean", "Deviation", "Least", "Most", "Distinct"];
const NUMERIC = [4, 5, 6, 7, 8, 9];

// The server can give a stored role to another column, but cannot take it from all of them.
function rolesFor({ role }) {
  return ["id", "weight", "ignore"].includes(role) ? ROLES.filter(([one]) => one === role || one === "label") : ROLES;
}

function roleSelect(column) {
  const select = element("select", { "aria-label": `Role of ${column.name}`, class: `role role-${roleOf(column)}`, onchange: () => setRole(column, select.value) });
  fillSelect(select, rolesFor(column), roleOf(column));
  return select;
}

/** Gives a column its role; only "regular" and "ignore" may belong to several columns. */
export function setRole(column, role) {
  if ((role === "label") !== (roleOf(column) === "label")) page.numbersAreClasses = false;
  if (role !== "regular" && role !== "ignore") {
    for (const other of page.table.columns) {
      if (roleOf(other) === role && other !== column) page.roles.set(other.name, "regular");
    }
  }
  page.roles.set(column.name, role);
  tell("roles");
}

function missingCell(missing) {
  if (missing === undefined || missing === null) return "–";
  if (missing === 0) return element("span", { class: "quiet-text" }, "0");
  const share = missing / page.table.rows;
  return element("span", { class: share >= 0.2 ? "much" : null }, `${count(missing)} (${percent(share, share < 0.001 ? 2 : share < 0.1 ? 1 : 0)})`);
}

function rowOf(column) {
  const s = page.statistics?.get(column.name) ?? {};
  const value = (number) => (isNominal(column) ? "" : valueOf(number, column.type));
  return [
    element("span", { class: "column-name", title: column.name }, column.name === "" ? "(no name)" : column.name),
    element("span", { class: "type" }, isNominal(column) ? "nominal" : column.type),
    roleSelect(column),
    pictures.get(column.name) ? barsPicture(column, pictures.get(column.name)) : noPicture(),
    missingCell(s.missing ?? column.missing),
    value(s.mean), column.type === "date" ? "" : value(s.deviation), value(s.min), value(s.max),
    isNominal(column) && typeof s.distinct === "number" ? count(s.distinct) : "",
  ];
}

function found() {
  const part = byId("column-filter").value.trim().toLowerCase();
  return part === "" ? page.table.columns : page.table.columns.filter(({ name }) => name.toLowerCase().includes(part));
}

function draw() {
  const all = found();
  const shown = all.slice(0, shownRows);
  const focused = document.activeElement?.getAttribute("aria-label");
  const cell = (tag, content, i, more = {}) => element(tag, { class: NUMERIC.includes(i) ? "number" : null, ...more }, content);
  replace(byId("column-table"),
    element("caption", { class: "unseen" }, `Columns of ${page.table.shown}, with their statistics`),
    element("thead", {}, element("tr", {}, ...HEADS.map((head, i) => cell("th", head, i, { scope: "col" })))),
    element("tbody", {}, ...shown.map((column) => element("tr", {}, ...rowOf(column).map((content, i) =>
      (i === 0 ? cell("th", content, i, { scope: "row" }) : cell("td", content, i)))))));
  if (focused?.startsWith("Role of ")) {
    [...byId("column-table").querySelectorAll("select")].find((select) => select.getAttribute("aria-label") === focused)?.focus();
  }
  const words = [...leftOut];
  if (all.length === 0) words.unshift("No column has that in its name.");
  else if (shown.length < all.length) words.unshift(`The first ${count(shown.length)} of ${counted(all.length, "column")} are shown. Find the others by name.`);
  replace(byId("columns-left-out"), words.join(" "));
  byId("more-columns").hidden = shown.length === all.length;
}

function grouped(rows, keep) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.column)) groups.set(row.column, []);
    groups.get(row.column).push(keep(row));
  }
  return groups;
}

async function describe() {
  const table = page.table;
  const stale = () => page.table !== table;
  const query = { table: table.name };
  const n = table.columns.length;
  shownRows = AT_ONCE;
  pictures = new Map();
  leftOut = [];
  byId("column-filter").value = "";
  draw();
  if (n > MOST_STATISTICS) {
    leftOut.push(`Statistics are left out, since the table has more than ${count(MOST_STATISTICS)} columns.`);
    draw();
    return;
  }
  const statistics = await runJson("columns", "Statistics of the columns", "/compute/stats", { query });
  if (statistics === null || stale()) return;
  page.statistics = new Map(records(statistics).map((row) => [row.column, row]));
  draw();
  const numeric = table.columns.filter((column) => !isNominal(column)).length;
  const values = [...page.statistics.values()].reduce((sum, s) => sum + (typeof s.distinct === "number" ? s.distinct : 0), 0);
  if (numeric > MOST_HISTOGRAMS) leftOut.push(`Histograms are left out, since there are more than ${count(MOST_HISTOGRAMS)} columns of numbers.`);
  else if (numeric > 0 && table.rows > 0) {
    await addPictures("Histograms", "/compute/histogram", { ...query, bins: BINS }, stale, ({ low, high, count: rows }) => ({ low, high, rows }));
  }
  if (values > MOST_VALUES) leftOut.push(`Counts of values are left out, since there are ${count(values)} of them.`);
  else if (numeric < n && table.rows > 0) {
    await addPictures("Counts of values", "/compute/value_counts", query, stale, ({ value, count: rows }) => ({ value, rows }));
  }
  if (!stale()) draw();
}

async function addPictures(what, path, query, stale, keep) {
  const answer = await runJson("columns", what, path, { query });
  if (answer === null || stale()) return;
  for (const [name, bars] of grouped(records(answer), keep)) pictures.set(name, bars);
  draw();
}

export function startColumns() {
  when("table", describe);
  when("roles", draw);
  byId("column-filter").addEventListener("input", () => { shownRows = AT_ONCE; draw(); });
  byId("more-columns").addEventListener("click", () => { shownRows += AT_ONCE; draw(); });
}
