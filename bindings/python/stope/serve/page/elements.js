// Elements without markup: whatever comes from a table or from the server becomes text, never HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

export const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const drawing = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

/** Puts nodes or texts in place of what an element holds. */
export function replace(node, ...children) {
  node.replaceChildren(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

/** Fills a select with [value, text] pairs and keeps the choice where it is still there. */
export function fillSelect(select, choices, chosen = select.value) {
  const options = document.createDocumentFragment();
  for (const [value, text] of choices) options.append(new Option(text, value, false, value === chosen));
  select.replaceChildren(options);
}

/** A table of data with a caption; `rows` are lists of texts or nodes, and the first cell of each is its header. */
export function dataTable(caption, heads, rows, numeric = []) {
  const cell = (tag, content, i, more = {}) => element(tag, { class: numeric.includes(i) ? "number" : null, ...more }, content);
  return [
    element("caption", { class: "unseen" }, caption),
    element("thead", {}, element("tr", {}, ...heads.map((head, i) => cell("th", head, i, { scope: "col" })))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((content, i) =>
      (i === 0 ? cell("th", content, i, { scope: "row" }) : cell("td", content, i)))))),
  ];
}
