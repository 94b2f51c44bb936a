// Classes have a colour and a number of theirs on the whole page: the first seven have a colour, the others share one.
import { element } from "./elements.js";

const COLORS = 7;

export const colorOf = (i) => `class-${i < COLORS ? i : "rest"}`;

export function legend(classes) {
  const entries = classes.slice(0, COLORS).map((name, i) => element("li", {}, element("span", { class: `swatch ${colorOf(i)}`, "aria-hidden": "true" }), name));
  if (classes.length > COLORS) entries.push(element("li", {}, element("span", { class: "swatch class-rest", "aria-hidden": "true" }), `${classes.length - COLORS} others`));
  return element("ul", { class: "legend", "aria-label": "Classes" }, ...entries);
}
