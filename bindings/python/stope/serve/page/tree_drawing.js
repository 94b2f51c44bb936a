// A tree as a picture: the root at the left, leaves below each other at the right, so that names stay horizontal.
import { drawing } from "./elements.js";
import { count, counted, percent, short, valueOf } from "./numbers.js";
import { colorOf } from "./class_colors.js";

const BOX = { width: 164, height: 50 }, ACROSS = 210, DOWN = 62, EDGE = 12;
const MOST_LEAVES = 60;

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

// The depth down to which the picture stays readable.
function depthShown(nodes) {
  const deepest = Math.max(...nodes.map((node) => node.depth));
  for (let depth = deepest; depth > 1; --depth) {
    const ends = nodes.filter((node) => node.depth === depth || (node.depth < depth && node.leaf !== undefined)).length;
    if (ends <= MOST_LEAVES) return depth;
  }
  return Math.min(1, deepest);
}

// Leaves stand below each other; a node stands between its two.
function places(nodes, depth) {
  const at = new Map();
  let next = 0;
  const stack = [[0, false]];
  while (stack.length > 0) {
    const [id, ready] = stack.pop();
    const node = nodes[id];
    const end = node.leaf !== undefined || node.depth === depth;
    if (end) at.set(id, { x: node.depth * ACROSS, y: DOWN * next++ });
    else if (ready) at.set(id, { x: node.depth * ACROSS, y: (at.get(node.left).y + at.get(node.right).y) / 2 });
    else stack.push([id, true], [node.right, false], [node.left, false]);
  }
  return { at, lines: next };
}

/** The two answers to a node's question. */
function answers({ missing, typeOf }, node) {
  if (node.kind === "sym" && node.value === "?" && missing === "value") return ["is missing", "is present"];
  if (node.kind === "sym") return [`= ${node.value}`, `≠ ${node.value}`];
  if (node.cut === "-inf") return ["is missing", "is present"];
  if (node.cut === "inf") return ["is present", "is missing"];
  const cut = valueOf(node.cut, typeOf(node.name));
  return [`< ${cut}`, `≥ ${cut}`];
}

function inWords(tree, node) {
  const sum = node.counts.reduce((a, b) => a + b, 0);
  const present = tree.classes.map((name, i) => [name, node.counts[i]]).filter(([, n]) => n > 0);
  const classes = present.slice(0, 8).map(([name, n]) => `${name} ${short(n)} (${percent(n / sum, 0)})`).join(", ");
  const what = node.leaf === undefined ? `${node.name} ${answers(tree, node)[0]}?` : `Leaf: ${node.leaf}`;
  return `${what} ${counted(node.n, "row")}: ${classes}`;
}

function box(tree, node, { x, y }) {
  const sum = node.counts.reduce((a, b) => a + b, 0) || 1;
  const leaf = node.leaf !== undefined;
  const main = leaf ? tree.classes.indexOf(node.leaf) : 0;
  const group = drawing("g", { class: leaf ? `node leaf ${colorOf(main)}` : "node", transform: `translate(${x},${y})` },
    drawing("title", {}, inWords(tree, node)),
    drawing("rect", { class: "box", width: BOX.width, height: BOX.height, rx: 8 }),
    drawing("text", { class: "node-name", x: EDGE, y: 20 }, cut(leaf ? node.leaf : node.name, 17)),
    drawing("text", { class: "node-rows", x: EDGE, y: 35 }, `${counted(node.n, "row")}${leaf ? `, ${percent(node.counts[main] / sum, 0)}` : ""}`));
  let from = 0;
  const wide = BOX.width - 2 * EDGE;
  node.counts.forEach((n, i) => {
    const width = (n / sum) * wide;
    if (width > 0) group.append(drawing("rect", { class: `share ${colorOf(i)}`, x: EDGE + from, y: 40, width, height: 4 }));
    from += width;
  });
  return group;
}

function edge(from, to, words) {
  const x1 = from.x + BOX.width, y1 = from.y + BOX.height / 2, x2 = to.x, y2 = to.y + BOX.height / 2;
  const middle = x1 + (x2 - x1) * 0.42;
  const above = y2 < y1;
  return drawing("g", { class: "edge" },
    drawing("path", { d: `M${x1},${y1}C${middle},${y1} ${middle},${y2} ${x2},${y2}` }),
    drawing("text", { x: x2 - 6, y: above ? y2 - 6 : y2 + 15, "text-anchor": "end" }, drawing("title", {}, words), cut(words, 13)));
}

/** The picture, and how many nodes it leaves out. `tree.typeOf` tells the type of a column by its name. */
export function drawTree(tree) {
  const depth = depthShown(tree.nodes);
  const { at, lines } = places(tree.nodes, depth);
  const width = depth * ACROSS + BOX.width + 4, height = Math.max(1, lines) * DOWN - (DOWN - BOX.height) + 4;
  const [root] = tree.nodes;
  const first = root.name === undefined ? "none" : `${root.name} ${answers(tree, root)[0]}`;
  const words = `A tree for ${tree.decision} with ${count(tree.n_leaves)} leaves. The first question: ${first}. The rules below say all of it.`;
  const picture = drawing("svg", { class: "tree-picture", viewBox: `-2 -2 ${width} ${height}`, width, height, role: "img", "aria-label": words });
  const edges = drawing("g"), boxes = drawing("g");
  for (const [id, place] of at) {
    const node = tree.nodes[id];
    if (at.has(node.left) && node.leaf === undefined && node.depth < depth) {
      const [left, right] = answers(tree, node);
      edges.append(edge(place, at.get(node.left), left), edge(place, at.get(node.right), right));
    }
    boxes.append(box(tree, node, place));
  }
  picture.append(edges, boxes);
  return { picture, leftOut: tree.nodes.length - at.size };
}
