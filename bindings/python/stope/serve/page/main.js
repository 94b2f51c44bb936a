// The page at "/": its steps are started here, each of which has a file.
import { byId, element, replace } from "./elements.js";
import { startColumns } from "./columns.js";
import { startCuts } from "./cuts.js";
import { startEvaluation } from "./evaluation.js";
import { startPredictions } from "./predict.js";
import { startMissing } from "./missing.js";
import { json } from "./server.js";
import { startSettings } from "./settings.js";
import { startTree } from "./tree.js";
import { listStoredTables, startUpload } from "./upload.js";

function greet({ version, caller }) {
  replace(byId("server"), version ? `version ${version}` : "");
  if (caller?.right !== "read") return;
  replace(byId("page-problem"), element("p", { class: "note" },
    "Your token may look at tables, but not compute. Ask whoever runs the server for one with the right “compute”."));
}

async function start() {
  startUpload();
  startColumns();
  startEvaluation();
  startMissing();
  startTree();
  startCuts();
  startPredictions();
  try {
    greet(await json(""));
    await Promise.all([startSettings(), listStoredTables()]);
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    replace(byId("page-problem"), element("p", { class: "problem" }, error.message, " ", element("a", { href: "./" }, "Try again")));
  }
}

start();
