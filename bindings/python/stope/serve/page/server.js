// The way to the server: addresses, token, and its refusals in words.
import { askForToken, token } from "./token.js";

/** A refusal of the server, or no answer at all. `message` is a sentence for people. */
export class Problem extends Error {
  constructor(message, { status = 0, code = "" } = {}) {
    super(message);
    this.status = status;
    this.code = code;
  }
  get cancelled() {
    return this.code === "cancelled";
  }
}

const SILENT = "The server does not answer. It may have stopped, or the connection is broken.";

// Relative to the page, so that the server may live under a path of another one.
export function address(path, query = {}) {
  const url = new URL(`v1${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== "" && value !== null && value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

export const headersOf = (more = {}) => (token() === null ? { ...more } : { Authorization: `Bearer ${token()}`, ...more });

/** The problem in a response's body, whose media type is application/problem+json. */
export function problemOf(status, text) {
  try {
    const { detail, title, code } = JSON.parse(text);
    if (typeof (detail ?? title) === "string") return new Problem(detail ?? title, { status, code });
  } catch {
    // A proxy between may answer in its own words, which are not for people.
  }
  return new Problem(`The server refused with status ${status}.`, { status });
}

/** Sends, and asks for a token as often as the server wants one. Throws a Problem unless the answer is good. */
export async function request(path, { method = "GET", query, body, headers, signal } = {}) {
  for (;;) {
    let response;
    try {
      response = await fetch(address(path, query), { method, body, signal, headers: headersOf(headers), cache: "no-store", redirect: "error" });
    } catch (error) {
      if (error.name === "AbortError") throw new Problem("Cancelled.", { code: "cancelled" });
      throw new Problem(SILENT);
    }
    if (response.ok) return response;
    const problem = problemOf(response.status, await response.text().catch(() => ""));
    if (response.status !== 401 || !(await askForToken())) throw problem;
  }
}

export async function json(path, options) {
  return bodyOf(await request(path, options));
}

/** The JSON of a response. */
export async function bodyOf(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw new Problem("Cancelled.", { code: "cancelled" });
    throw new Problem("The answer broke off before its end.");
  }
}

/** Sends a file and tells how many bytes are away: only XMLHttpRequest can. Resolves to the answer's JSON. */
export async function send(path, { query, file, headers, sent, signal }) {
  for (;;) {
    const { status, text } = await new Promise((resolve, reject) => {
      const call = new XMLHttpRequest();
      call.open("POST", address(path, query));
      for (const [name, value] of Object.entries(headersOf({ Accept: "application/json", ...headers }))) call.setRequestHeader(name, value);
      call.upload.onprogress = (event) => sent(event.loaded, event.total);
      call.onload = () => resolve({ status: call.status, text: call.responseText });
      call.onerror = () => reject(new Problem(SILENT));
      call.onabort = () => reject(new Problem("Cancelled.", { code: "cancelled" }));
      signal?.addEventListener("abort", () => call.abort(), { once: true });
      call.send(file);
    });
    if (status >= 200 && status < 300) return JSON.parse(text);
    const problem = problemOf(status, text);
    if (status !== 401 || !(await askForToken())) throw problem;
  }
}

/** Rows of an answer {"columns", "rows"} as objects by name. */
export function records({ columns, rows }) {
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column.name, row[i]])));
}

const CSV = "text/csv", ARROW = "application/vnd.apache.arrow.stream";
const TYPES = {
  csv: CSV, tsv: CSV, txt: CSV, json: "application/json", arrow: ARROW, arrows: ARROW, ipc: ARROW, feather: ARROW,
  parquet: "application/vnd.apache.parquet",
};

/** Media type and encoding of a file, by its name. */
export function headersOfFile(file) {
  const parts = file.name.toLowerCase().split(".");
  const packed = { gz: "gzip", zst: "zstd" }[parts.at(-1)];
  if (packed) parts.pop();
  const headers = { "Content-Type": TYPES[parts.at(-1)] ?? "text/csv" };
  if (packed) headers["Content-Encoding"] = packed;
  return headers;
}
