// A job of the server on the page: its progress, its button to cancel, and its refusal where it belongs.
import { byId, element, replace } from "./elements.js";
import { count, percent, size } from "./numbers.js";
import { Problem, bodyOf, json, request, send } from "./server.js";

const SHOW_AFTER = 250;  // milliseconds: what is quicker would only flicker
const ASK_EVERY = 400;

// The server knows the job by this name, so that its progress can be asked for while the answer is awaited.
function freshName() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
}

function view(place, what) {
  const label = element("span", { class: "job-what" }, what);
  const state = element("span", { class: "job-state" });
  const bar = element("progress", { "aria-label": what });
  const cancel = element("button", { type: "button", class: "quiet" }, "Cancel");
  replace(byId(place), element("div", { class: "job-words" }, label, state), bar, cancel);
  return { place: byId(place), label, state, bar, cancel };
}

function show({ state, bar }, { phase, done, total, state: stage }) {
  const words = stage === "waiting" ? "waits for its turn" : phase ?? "";
  replace(state, total > 0 && stage !== "waiting" ? `${words} ${percent(done / total, 0)}` : words);
  if (total > 0) {
    bar.max = total;
    bar.value = Math.min(done, total);
  } else {
    bar.removeAttribute("value");
  }
}

async function follow(name, shown, running) {
  while (running()) {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY));
    if (!running()) return;
    const job = await json(`/jobs/${name}`).catch(() => null);  // not yet begun, or over
    if (job !== null && running()) show(shown, job);
  }
}

const current = new Map();  // step -> how its running job is given up

/** Gives up the job that a step runs: its answer is of no use any more, and nothing is said of it. */
export function giveUp(step) {
  current.get(step)?.();
}

/**
 * Runs `work(headers, signal, shown)` as a job that is called `what` on the page. `${step}-job` shows it and
 * `${step}-problem` says why it failed. Resolves to null where it failed or was cancelled. A step runs one job: a new one
 * takes the place of the one before.
 */
export async function runJob(step, what, work) {
  giveUp(step);
  const name = freshName();
  const stop = new AbortController();
  const cancel = () => request(`/jobs/${name}`, { method: "DELETE" }).catch(() => {});
  const shown = view(`${step}-job`, what);
  let running = true, wanted = true;
  const giveUpThis = () => {
    wanted = false;
    cancel();
    stop.abort();
  };
  current.set(step, giveUpThis);
  replace(byId(`${step}-problem`));
  byId(step)?.setAttribute("aria-busy", "true");
  const timer = setTimeout(() => { shown.place.hidden = false; }, SHOW_AFTER);
  shown.cancel.addEventListener("click", () => {
    shown.cancel.disabled = true;
    replace(shown.state, "is being cancelled");
    cancel();
    // What the server has not begun has no job yet: giving up the request cancels that.
    setTimeout(() => stop.abort(), 1000);
  });
  follow(name, shown, () => running && !shown.cancel.disabled);
  try {
    return await work({ "Stope-Job": name }, stop.signal, shown);
  } catch (error) {
    if (wanted) sayProblem(step, error);
    return null;
  } finally {
    running = false;
    clearTimeout(timer);
    if (current.get(step) === giveUpThis) {
      current.delete(step);
      shown.place.hidden = true;
      byId(step)?.removeAttribute("aria-busy");
    }
  }
}

/** A job whose answer is JSON. What the engine warns of is shown where a refusal would be. */
export const runJson = (step, what, path, options = {}) =>
  runJob(step, what, async (headers, signal) => {
    const response = await request(path, { method: "POST", signal, ...options, headers: { ...options.headers, ...headers } });
    const answer = await bodyOf(response);
    replace(byId(`${step}-problem`), ...warningsOf(response).map((words) => element("p", { class: "note" }, words)));
    return answer;
  });

// Notes are the engine's warnings, and then where and how it computed.
function warningsOf(response) {
  try {
    const notes = JSON.parse(response.headers.get("Stope-Notes") ?? "[]");
    return notes.filter((note) => !/^(backend|device|method)\b/.test(note)).map((note) => `${note[0].toUpperCase()}${note.slice(1)}.`);
  } catch {
    return [];
  }
}

/** A file on its way to the server, which then reads it. */
export const runUpload = (step, what, path, { query, file, headers }) =>
  runJob(step, what, (named, signal, shown) => send(path, {
    query, file, signal, headers: { ...headers, ...named },
    sent: (done, total) => {
      show(shown, { phase: done < total ? `${size(done)} of ${size(total)}` : "the server reads it", done: done < total ? done : 0, total: done < total ? total : 0 });
    },
  }));

export function sayProblem(step, error) {
  const place = byId(`${step}-problem`);
  if (error instanceof Problem && error.cancelled) {
    replace(place, element("p", { class: "note" }, "Cancelled."));
    return;
  }
  if (!(error instanceof Problem) && !error.forPeople) console.error(error);
  const words = error instanceof Problem || error.forPeople ? error.message : `The page failed: ${error.message}`;
  replace(place, element("p", { class: "problem" }, words));
}

export const rowsInWords = (n) => `${count(n)} ${n === 1 ? "row" : "rows"}`;
