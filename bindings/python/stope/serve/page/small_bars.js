// A small histogram: bins of a column of numbers, or the most frequent values of a nominal one.
import { drawing, element } from "./elements.js";
import { count, counted, valueOf } from "./numbers.js";

const WIDTH = 128, HEIGHT = 28, MOST_BARS = 16;

function inWords(column, bars) {
  const most = bars.reduce((best, bar) => (bar.rows > best.rows ? bar : best), bars[0]);
  if (bars[0].value === undefined) {
    return `${column.name}: ${counted(bars.length, "bin")} from ${valueOf(bars[0].low, column.type, 3)} to ${valueOf(bars.at(-1).high, column.type, 3)}, ` +
      `most rows (${count(most.rows)}) from ${valueOf(most.low, column.type, 3)} to ${valueOf(most.high, column.type, 3)}`;
  }
  const first = bars.slice(0, 5).map(({ value, rows }) => `${value} ${count(rows)}`).join(", ");
  return `${column.name}: ${first}${bars.length > 5 ? `, and ${counted(bars.length - 5, "other value")}` : ""}`;
}

export function barsPicture(column, all) {
  const nominal = all[0].value !== undefined;
  const sorted = nominal ? [...all].sort((a, b) => b.rows - a.rows) : all;
  const bars = sorted.slice(0, MOST_BARS);
  const high = Math.max(1, ...bars.map((bar) => bar.rows));
  const slot = WIDTH / Math.max(bars.length, nominal ? 4 : 1);
  const words = inWords(column, sorted);
  const size = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT };
  const picture = drawing("svg", { class: `small-bars${nominal ? " of-values" : ""}`, ...size, role: "img", "aria-label": words },
    drawing("title", {}, words));
  bars.forEach((bar, i) => {
    const height = bar.rows === 0 ? 0 : Math.max(1, (bar.rows / high) * (HEIGHT - 2));
    picture.append(drawing("rect", { x: i * slot + 0.5, y: HEIGHT - 1 - height, width: Math.max(0.5, slot - (nominal ? 3 : 1)), height }));
  });
  picture.append(drawing("line", { x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 }));
  return picture;
}

export const noPicture = () => element("span", { class: "no-picture", "aria-hidden": "true" });
