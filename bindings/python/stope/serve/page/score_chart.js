// Scores over k: a line with a dot for every k, the best one marked.
import { drawing } from "./elements.js";
import { percent, short, ticks } from "./numbers.js";

const H = 300, LEFT = 62, RIGHT = 22, TOP = 26, BOTTOM = 46;

function range(scores, share) {
  const low = Math.min(...scores), high = Math.max(...scores);
  const room = high > low ? (high - low) * 0.12 : Math.max(Math.abs(high) * 0.05, share ? 0.02 : 1e-9);
  const from = low >= 0 ? Math.max(0, low - room) : low - room;
  return share ? [from, Math.min(1, high + room)] : [from, high + room];
}

// Only so many labels fit under the axis.
function labelled(ks, most) {
  const every = Math.ceil(ks.length / most);
  return ks.filter((_, i) => i % every === 0);
}

/** `points` are {k, score}, ascending in k; `share`: scores are shares of 1. `wide`: pixels that there are for it. */
export function scoreChart(points, { title, write, best, share, wide }) {
  const W = Math.max(320, Math.min(640, wide || 640));  // drawn in its own pixels, so that words stay readable
  const known = points.filter(({ score }) => typeof score === "number");
  const words = known.length === 0 ? `${title}: there are no scores` :
    `${title} over k: from ${write(known[0].score)} with k = ${known[0].k} to ${write(known.at(-1).score)} with k = ${known.at(-1).k}; ` +
    `the best is k = ${best}. The table next to it has all numbers.`;
  const svg = drawing("svg", { class: "line-chart", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": words });
  if (known.length === 0) return svg;
  const marks = ticks(...range(known.map(({ score }) => score), share), 4).filter((mark) => !share || mark <= 1 + 1e-12);
  const [low, high] = [marks[0], marks.at(-1)];
  const [first, last] = [known[0].k, known.at(-1).k];
  const x = (k) => (last > first ? LEFT + ((k - first) / (last - first)) * (W - LEFT - RIGHT) : (LEFT + W - RIGHT) / 2);
  const y = (score) => H - BOTTOM - (high > low ? (score - low) / (high - low) : 0.5) * (H - TOP - BOTTOM);
  const digits = share ? Math.max(0, Math.min(2, Math.ceil(-Math.log10((high - low) / Math.max(1, marks.length - 1) || 1)) - 2)) : 0;
  for (const mark of marks) {
    svg.append(drawing("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(mark), y2: y(mark) }),
      drawing("text", { class: "tick", x: LEFT - 10, y: y(mark) + 4, "text-anchor": "end" }, share ? percent(mark, digits) : short(mark, 4)));
  }
  for (const k of labelled(known.map((point) => point.k), W / 50)) {
    svg.append(drawing("text", { class: "tick", x: x(k), y: H - BOTTOM + 22, "text-anchor": "middle" }, k));
  }
  svg.append(drawing("text", { class: "axis", x: (LEFT + W - RIGHT) / 2, y: H - 6, "text-anchor": "middle" }, "neighbours, k"),
    drawing("polyline", { class: "line", points: known.map(({ k, score }) => `${x(k)},${y(score)}`).join(" ") }));
  for (const { k, score } of known) {
    svg.append(drawing("circle", { class: k === best ? "dot best" : "dot", cx: x(k), cy: y(score), r: k === best ? 7 : 4 }, drawing("title", {}, `k = ${k}: ${write(score)}`)));
  }
  const top = known.find(({ k }) => k === best);
  if (top) {
    const at = x(best);
    const anchor = at > W - 110 ? "end" : at < LEFT + 60 ? "start" : "middle";
    svg.append(drawing("text", { class: "best-label", x: at, y: y(top.score) - 14, "text-anchor": anchor }, `k = ${best}: ${write(top.score)}`));
  }
  return svg;
}
