// The first records of a CSV text, for a look at it. Fields may stand in quotes, as RFC 4180 has it.

export function firstRecords(text, most) {
  const records = [];
  let record = [], field = "", quoted = false;
  for (let i = 0; i < text.length && records.length < most; ++i) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (c === '"') {
      quoted = true;
    } else if (c === "," || c === "\n") {
      record.push(field.replace(/\r$/, ""));
      field = "";
      if (c === "\n") {
        records.push(record);
        record = [];
      }
    } else {
      field += c;
    }
  }
  return records;
}
