// What a missing value means for trees and cuts; only tables that have some are asked about.
import { byId, fillSelect } from "./elements.js";
import { page, roleOf, when } from "./page.js";

const POLICIES = [["value", "are a value of their own"], ["fill", "become the mean, or the most frequent value"], ["drop", "leave out their rows"]];

const someMissing = () => page.table.columns.some((column) => column.missing > 0 && roleOf(column) === "regular");

/** The option "missing" of `step`'s form. The engine's default refuses missing values. */
export const missingQuery = (step) => ({ missing: someMissing() ? byId(`${step}-missing`).value : "" });

function adapt() {
  for (const field of document.querySelectorAll(".missing-field")) field.hidden = !someMissing();
}

export function startMissing() {
  for (const step of ["tree", "cuts"]) fillSelect(byId(`${step}-missing`), POLICIES);
  when("table", adapt);
  when("roles", adapt);
}
