// The page at "/": its steps are started here, each of which has a file.
import { byId, element, replace } from "./elements.js";
import { startColumns } from "./columns.js";
import { startCuts } from "./cuts.js";
import { startEvaluation } from "./evaluation.js";
import { startPredictions } from "./predict.js";
import { json } from "./server.js";
import { startSettings } from "./settings.js";
import { startTree } from "./tree.js";
import { listStoredTables, startUpload } from "./upload.js";

async function start() {
  startUpload();
  startColumns();
  startEvaluation();
  startTree();
  startCuts();
  startPredictions();
  try {
    const server = await json("");
    replace(byId("server"), server.version ? `version ${server.version}` : "");
    await Promise.all([startSettings(), listStoredTables()]);
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    replace(byId("page-problem"), element("p", { class: "problem" }, error.message, " ", element("a", { href: "./" }, "Try again")));
  }
}

start();
