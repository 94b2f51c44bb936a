// Step 1: a file of the person's, or a table that the server has.
import { byId, element, fillSelect, replace } from "./elements.js";
import { counted, count, size } from "./numbers.js";
import { runJson, runUpload, sayProblem } from "./jobs.js";
import { listOf, page, tell } from "./page.js";
import { headersOfFile, json, request } from "./server.js";

const READING = ["separator", "decimal", "header", "missing_values", "nominal"];
const LISTS = ["missing_values", "nominal"];

let file = null;

const words = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);
const readingOptions = () => Object.fromEntries(READING.map((name) => [name, LISTS.includes(name) ? listOf(words(byId(name).value)) : byId(name).value]));

/** Sends the file with the reading options of the form, and opens the table that comes of it. */
async function readFile() {
  if (file === null) return;
  const chosen = file;
  byId("upload").classList.add("busy");
  const answer = await runUpload("upload", `Reading ${chosen.name}`, "/tables", { query: readingOptions(), file: chosen, headers: headersOfFile(chosen) });
  byId("upload").classList.remove("busy");
  if (answer !== null) open(answer, { file: chosen, shown: chosen.name });
}

// A table that was made by this page is of no use to anybody once another one is open.
function forget(table) {
  if (table?.anonymous) request(`/tables/${encodeURIComponent(table.name)}`, { method: "DELETE" }).catch(() => {});
}

function open(answer, { file: source = null, shown }) {
  forget(page.table);
  page.roles.clear();
  page.statistics = null;
  page.numbersAreClasses = false;
  page.table = { ...answer, shown, anonymous: answer.name.startsWith("~") };
  byId("welcome").classList.add("done");
  replace(byId("table-facts"),
    element("strong", {}, shown),
    ` has ${counted(answer.rows, "row")} and ${counted(answer.columns.length, "column")}.`,
    source === null ? "" : ` The file has ${size(source.size)}.`);
  byId("read-again").hidden = source === null;
  byId("work").hidden = false;
  byId("steps").hidden = false;
  tell("table");
}

async function openStored() {
  const name = byId("stored-table").value;
  const answer = await runJson("upload", `Opening ${name}`, `/tables/${encodeURIComponent(name)}`, { method: "GET" });
  if (answer !== null) {
    file = null;
    open(answer, { shown: name });
  }
}

export async function listStoredTables() {
  const answer = await json("/tables");
  const tables = (answer.tables ?? answer).filter(({ name }) => !name.startsWith("~"));
  fillSelect(byId("stored-table"), tables.map(({ name, rows, columns }) => [name, `${name} (${count(rows)} × ${count(Array.isArray(columns) ? columns.length : columns)})`]));
  byId("stored").hidden = tables.length === 0;
}

/** Takes files that are dropped on `zone`; `input` is its button for the keyboard. */
export function takeFiles(zone, input, take) {
  input.addEventListener("change", () => { if (input.files.length > 0) take(input.files[0]); });
  let inside = 0;  // children of the zone are entered and left, too
  const mark = (by) => zone.classList.toggle("over", (inside = Math.max(0, inside + by)) > 0);
  zone.addEventListener("dragenter", (event) => { event.preventDefault(); mark(1); });
  zone.addEventListener("dragleave", () => mark(-1));
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    mark(-inside);
    const files = event.dataTransfer.files;
    if (files.length === 1) take(files[0]);
    else sayProblem("upload", Object.assign(new Error(files.length === 0 ? "That is no file." : "Drop one file at a time."), { forPeople: true }));
  });
}

export function startUpload() {
  takeFiles(byId("drop"), byId("file"), (chosen) => {
    file = chosen;
    readFile();
  });
  // A file that misses the zone would replace the page.
  for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault());
  byId("upload").addEventListener("submit", (event) => event.preventDefault());
  byId("file").addEventListener("click", () => { byId("file").value = ""; });  // the same file again is a change, too
  byId("read-again").addEventListener("click", () => readFile());
  byId("open-stored").addEventListener("click", openStored);
}
