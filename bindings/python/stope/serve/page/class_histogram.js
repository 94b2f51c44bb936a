// A column's histogram with the classes stacked, and the cut as a line.
import { drawing, element } from "./elements.js";
import { count, valueOf } from "./numbers.js";
import { colorOf } from "./class_colors.js";

const W = 320, H = 170, LEFT = 8, RIGHT = 8, TOP = 24, BOTTOM = 26, BINS = 24, MOST_VALUES = 12;
const MISSING = "?";  // the engine's name of a missing nominal value, where missing is a value of its own

// Rows by bin and class. The cut is an edge between two bins, so that no bar lies on both of its sides.
function numericBins(values, codes, n, cut) {
  const finite = values.map((value) => (typeof value === "number" ? value : null));
  let low = Infinity, high = -Infinity;
  for (const value of finite) {
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high >= low)) return null;
  const inside = typeof cut === "number" && cut > low && cut <= high;
  const left = inside ? Math.min(BINS - 1, Math.max(1, Math.round(((cut - low) / (high - low)) * BINS))) : 0;
  const edges = [];
  for (let i = 0; i <= BINS; ++i) {
    if (!inside) edges.push(low + ((high - low) * i) / BINS);
    else edges.push(i <= left ? low + ((cut - low) * i) / left : cut + ((high - cut) * (i - left)) / (BINS - left));
  }
  const bars = Array.from({ length: BINS }, (_, i) => ({ low: edges[i], high: edges[i + 1], rows: new Array(n).fill(0) }));
  const rights = BINS - left;
  finite.forEach((value, row) => {
    if (value === null || codes[row] < 0) return;
    let bin;
    if (!inside) bin = high > low ? Math.floor(((value - low) / (high - low)) * BINS) : 0;
    else if (value < cut) bin = Math.min(left - 1, Math.floor(((value - low) / (cut - low)) * left));
    else bin = left + (high > cut ? Math.floor(((value - cut) / (high - cut)) * rights) : 0);
    ++bars[Math.min(BINS - 1, Math.max(0, bin))].rows[codes[row]];
  });
  return { bars, low, high, cutBin: inside ? left : null };
}

// Missing numbers are below all others, so they have a bar of their own at the left.
function withMissing(found, values, codes, n, cut) {
  const rows = new Array(n).fill(0);
  values.forEach((value, row) => { if (value === null && codes[row] >= 0) ++rows[codes[row]]; });
  if (rows.every((count) => count === 0)) return found;
  const cutBin = found.cutBin === null ? (cut === "-Infinity" ? 1 : null) : found.cutBin + 1;
  return { ...found, bars: [{ name: "missing", rows }, ...found.bars], cutBin, missing: true };
}

function nominalBins(values, codes, n, value, missingIsValue) {
  const bars = new Map();
  values.forEach((given, row) => {
    const one = given === null && missingIsValue ? MISSING : given;
    if (one === null || codes[row] < 0) return;
    if (!bars.has(one)) bars.set(one, { name: one, shown: given === null ? "missing" : one, rows: new Array(n).fill(0) });
    ++bars.get(one).rows[codes[row]];
  });
  const sum = ({ rows }) => rows.reduce((a, b) => a + b, 0);
  const ordered = [...bars.values()].sort((a, b) => (b.name === value) - (a.name === value) || sum(b) - sum(a));
  return { bars: ordered.slice(0, MOST_VALUES), cutBin: ordered.length > 1 && ordered[0].name === value ? 1 : null };
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

function sides(bars, cutBin, classes) {
  if (cutBin === null) return "";
  const of = (part) => {
    const sums = classes.map((name, i) => [name, part.reduce((sum, bar) => sum + bar.rows[i], 0)]).filter(([, rows]) => rows > 0);
    return sums.slice(0, 6).map(([name, rows]) => `${name} ${count(rows)}`).join(", ") || "no rows";
  };
  return ` On the left: ${of(bars.slice(0, cutBin))}. On the right: ${of(bars.slice(cutBin))}.`;
}

/** A figure with the picture and its title. `cut` is a row of the job "best_cuts". */
export function classHistogram({ column, cut: { cut: at, value }, words, values, labels, classes, missingIsValue }) {
  const code = new Map(classes.map((name, i) => [name, i]));
  const codes = labels.map((name) => code.get(name) ?? -1);
  const nominal = value !== null && value !== undefined;
  let found = nominal ? nominalBins(values, codes, classes.length, value, missingIsValue) : numericBins(values, codes, classes.length, at);
  if (found !== null && !nominal && missingIsValue) found = withMissing(found, values, codes, classes.length, at);
  const title = element("figcaption", {}, element("strong", { title: column.name }, cut(column.name, 28)), ` ${words}`);
  if (found === null) return element("figure", { class: "class-histogram" }, title, element("p", { class: "hint" }, "All values are missing."));
  const { bars, cutBin } = found;
  const sums = bars.map(({ rows }) => rows.reduce((a, b) => a + b, 0));
  const most = Math.max(1, ...sums);
  const slot = (W - LEFT - RIGHT) / bars.length;
  const inWords = `${column.name}, rows by class, cut at ${words}.${sides(bars, cutBin, classes)}`;
  const svg = drawing("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": inWords });
  bars.forEach((bar, i) => {
    let y = H - BOTTOM;
    bar.rows.forEach((rows, c) => {
      if (rows === 0) return;
      const height = (rows / most) * (H - TOP - BOTTOM);
      y -= height;
      const place = bar.shown ?? bar.name ?? `${valueOf(bar.low, column.type, 4)} to ${valueOf(bar.high, column.type, 4)}`;
      const box = { x: LEFT + i * slot + 0.75, y, width: Math.max(0.5, slot - 1.5), height };
      svg.append(drawing("rect", { class: `bar ${colorOf(c)}`, ...box }, drawing("title", {}, `${place}: ${classes[c]} ${count(rows)}`)));
    });
    if (!nominal) return;
    const middle = { x: LEFT + (i + 0.5) * slot, y: H - 8, "text-anchor": "middle" };
    svg.append(drawing("text", { class: "tick", ...middle }, cut(bar.shown, Math.max(3, Math.floor(slot / 7)))));
  });
  svg.append(drawing("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: H - BOTTOM, y2: H - BOTTOM }));
  if (!nominal) {
    if (found.missing) svg.append(drawing("text", { class: "tick", x: LEFT, y: H - 8 }, "missing"));
    svg.append(drawing("text", { class: "tick", x: found.missing ? LEFT + 60 : LEFT, y: H - 8 }, valueOf(found.low, column.type, 4)),
      drawing("text", { class: "tick", x: W - RIGHT, y: H - 8, "text-anchor": "end" }, valueOf(found.high, column.type, 4)));
  }
  if (cutBin !== null) {
    const x = LEFT + cutBin * slot;
    svg.append(drawing("line", { class: "cut", x1: x, x2: x, y1: TOP - 14, y2: H - BOTTOM + 4 }));
    if (!nominal && typeof at === "number") {
      const side = x > W / 2 ? { x: x - 6, "text-anchor": "end" } : { x: x + 6, "text-anchor": "start" };
      svg.append(drawing("text", { class: "cut-label", ...side, y: TOP - 6 }, valueOf(at, column.type, 5)));
    }
  }
  return element("figure", { class: "class-histogram" }, title, svg);
}
