// The token: asked for in a dialog, kept in this tab's sessionStorage and nowhere else.
import { byId, replace } from "./elements.js";

const KEY = "stope token";
let asking = null;

export const token = () => sessionStorage.getItem(KEY);

/** Asks once, however many requests wait; resolves to true once there is a new token, to false where the person declined. */
export function askForToken() {
  asking ??= ask().finally(() => { asking = null; });
  return asking;
}

function ask() {
  const dialog = byId("token-dialog");
  const input = byId("token");
  replace(byId("token-reason"), token() === null ? "Whoever runs the server gives you one." : "The server did not accept the last one.");
  sessionStorage.removeItem(KEY);
  input.value = "";
  dialog.returnValue = "";
  byId("token-cancel").onclick = () => dialog.close("");
  byId("token-form").onsubmit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, input.value.trim());
    dialog.close("given");
  };
  dialog.showModal();
  input.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      input.value = "";
      resolve(dialog.returnValue === "given");
    }, { once: true });
  });
}
