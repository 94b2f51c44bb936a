// Rows of a stored table for pictures: all of a small one, parts from evenly spaced places of a large one.
import { runJob } from "./jobs.js";
import { daysOf } from "./numbers.js";
import { listOf } from "./page.js";
import { json } from "./server.js";

const MOST_CELLS = 1000000;  // about 10 MB of answers
const PARTS = 10;

function valuesOf(columns, rows, name) {
  const at = columns.findIndex((column) => column.name === name);
  const values = rows.map((row) => row[at]);
  return columns[at].type === "date" ? values.map((text) => (text === null ? null : daysOf(text))) : values;
}

/** {rows, parts, column(name)}, or null where it failed. */
export function sampleRows(step, what, table, names) {
  const most = Math.floor(MOST_CELLS / names.length);
  const parts = table.rows <= most ? 1 : PARTS;
  const limit = parts === 1 ? Math.max(1, table.rows) : Math.floor(most / parts);
  return runJob(step, what, async (headers, signal) => {
    const rows = [];
    let columns = null;
    for (let part = 0; part < parts; ++part) {
      const offset = parts === 1 ? 0 : Math.floor((part * (table.rows - limit)) / (parts - 1));
      const answer = await json(`/tables/${encodeURIComponent(table.name)}/rows`, { query: { offset, limit, columns: listOf(names) }, signal });
      columns ??= answer.columns;
      for (const row of answer.rows) rows.push(row);
    }
    return { rows: rows.length, parts, column: (name) => valuesOf(columns, rows, name) };
  });
}
