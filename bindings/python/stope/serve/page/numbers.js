// Numbers and words for people.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 1,234,567 */
export const count = (n) => whole.format(n);

/** "1 row", "2 rows" */
export const counted = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/** At most `digits` significant digits; what is missing is an en dash. */
export function short(value, digits = 5) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value).replace(/^(-?)(Infinity|inf)$/, (_, sign) => (sign ? "−∞" : "∞"));
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(Math.max(0, digits - 2)).replace("e+", "e").replaceAll("-", "−");
  if (Number.isInteger(value)) return count(value).replace("-", "−");
  const rounded = Number(value.toPrecision(digits));
  return new Intl.NumberFormat("en", { maximumFractionDigits: 9 }).format(rounded).replace("-", "−");
}

/** Always three digits behind the point, so that scores in a column can be compared. */
export const fixed = (value) => (typeof value === "number" ? value.toFixed(3).replace("-", "−") : "–");

export const percent = (share, digits = 1) => (share === null || Number.isNaN(share) ? "–" : `${(share * 100).toFixed(digits)} %`);

export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    ++unit;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

const DAY = 86400000;  // milliseconds

/** A date as rows spell it, as the number that statistics and cuts have. */
export const daysOf = (text) => Date.parse(text.length > 10 ? `${text.replace(" ", "T")}Z`.replace("ZZ", "Z") : text) / DAY;

/** A column's number as its type spells it: dates are days since 1970. */
export function valueOf(value, type, digits = 5) {
  if (type !== "date" || typeof value !== "number") return short(value, digits);
  const date = new Date(value * DAY);
  if (Number.isNaN(date.getTime())) return short(value, digits);
  const text = date.toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
}

/** "1-5, 9" as [1, 2, 3, 4, 5, 9]; throws a sentence for anything else. */
export function wholeNumbers(text, most = 200) {
  const numbers = new Set();
  for (const part of text.split(/[\s,;]+/).filter(Boolean)) {
    const range = /^(\d{1,9})(?:[-–](\d{1,9}))?$/.exec(part);
    const low = range ? Number(range[1]) : 0;
    const high = range ? Number(range[2] ?? range[1]) : 0;
    if (low < 1 || high < low) throw new Error(`"${part}" is not a whole number of at least 1, and not a range such as 1-15.`);
    for (let k = low; k <= high; ++k) {
      numbers.add(k);
      if (numbers.size > most) throw new Error(`There are more than ${most} numbers of neighbours. Give fewer.`);
    }
  }
  if (numbers.size === 0) throw new Error("Give at least one number of neighbours, such as 5.");
  return [...numbers].sort((a, b) => a - b);
}

/** Round numbers from at most `low` to at least `high`, about `steps` apart. */
export function ticks(low, high, steps = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const found = [];
  for (let i = Math.floor(low / step + 1e-9); i * step <= high + step * 1e-9 || found.length < 2; ++i) found.push(Number((i * step).toPrecision(12)));
  if (found.at(-1) < high) found.push(Number((found.at(-1) + step).toPrecision(12)));
  return found;
}
