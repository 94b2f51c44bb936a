//! The cells of a sheet as CSV text: values as fields, fields in rows, rows padded to the width of the table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use calamine::{DataRef, ExcelDateTime};

use crate::border::{invalid, too_large, Outcome};
use crate::sheet::damaged;

/// The size of a sheet in Excel and LibreOffice. Cells beyond it are made to fill the memory with separators.
pub const MOST_ROWS: u64 = 1 << 20;
pub const MOST_COLUMNS: u64 = 1 << 14;
/// What a cell of the row at hand takes besides its text.
const CELL_BYTES: u64 = 64;

/// A cell as a field of CSV; empty: no value.
pub type Field = String;

pub fn value_of(value: &DataRef) -> Field {
    match value {
        DataRef::Int(n) => n.to_string(),
        DataRef::Float(v) => number(*v),
        DataRef::String(s) => quoted(s),
        DataRef::SharedString(s) => quoted(s),
        DataRef::Bool(b) => b.to_string(),
        DataRef::DateTime(d) => date(d),
        DataRef::DateTimeIso(s) => quoted(s),
        DataRef::DurationIso(s) => duration(s),
        DataRef::Error(_) | DataRef::Empty => String::new(),
    }
}

/// The shortest text that reads back. Digits alone would be taken for a key where a double does not hold them all.
pub fn number(value: f64) -> Field {
    if value.abs() < 1e15 && (value == 0.0 || value.abs() >= 1e-5) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// A text is quoted only where its characters need it: so NA is missing here as it is in a CSV file.
pub fn quoted(text: &str) -> Field {
    let blank_ends = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    if !blank_ends && !text.contains([',', '"', '\n', '\r', '\0']) {
        return text.to_string();
    }
    format!(
        "\"{}\"",
        text.replace('"', "\"\"").replace('\0', "\u{FFFD}")
    )
}

fn date(value: &ExcelDateTime) -> Field {
    let days = value.as_f64();
    if value.is_duration() || days < 1.0 {
        return number(days);
    }
    let (year, month, day, hour, minute, second, milli) = value.to_ymd_hms_milli();
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if (hour, minute, second, milli) != (0, 0, 0, 0) {
        let _ = write!(text, "T{hour:02}:{minute:02}:{second:02}");
        if milli != 0 {
            let _ = write!(text, ".{milli:03}");
        }
    }
    text
}

/// PT10H30M00S as a fraction of a day; what is spelled otherwise stays text.
pub fn duration(text: &str) -> Field {
    let parse = || -> Option<f64> {
        let (sign, rest) = text
            .strip_prefix('-')
            .map_or((1.0, text), |rest| (-1.0, rest));
        let mut seconds = 0.0;
        let mut digits = String::new();
        let mut time = false;
        for c in rest.strip_prefix('P')?.chars() {
            let scale = match c {
                'T' => {
                    time = true;
                    continue;
                }
                '0'..='9' | '.' => {
                    digits.push(c);
                    continue;
                }
                'D' => 86400.0,
                'H' if time => 3600.0,
                'M' if time => 60.0,
                'S' if time => 1.0,
                _ => return None,
            };
            seconds += digits.parse::<f64>().ok()? * scale;
            digits.clear();
        }
        Some(sign * seconds / 86400.0)
    };
    parse().map_or_else(|| quoted(text), number)
}

/// Gathers cells in rows, and writes them once the width of the table is known.
pub struct SheetText {
    skip: u32,
    limit: u64,
    row: u32,
    cells: BTreeMap<u32, Field>,
    /// What the cells of the row at hand take.
    held: u64,
    rows: Vec<Line>,
    body: String,
    first_column: u32,
    last_column: u32,
}

/// A row that is not blank: its fields from `first` to `last`, from `begin` on in the body.
struct Line {
    row: u32,
    first: u32,
    last: u32,
    begin: usize,
}

impl SheetText {
    pub fn new(skip: u32, limit: u64) -> Self {
        SheetText {
            skip,
            limit,
            row: 0,
            cells: BTreeMap::new(),
            held: 0,
            rows: Vec::new(),
            body: String::new(),
            first_column: u32::MAX,
            last_column: 0,
        }
    }

    /// Takes a cell. Rows come in their order; both count from 0.
    pub fn add(&mut self, row: u64, column: u64, field: Field) -> Outcome<()> {
        if field.is_empty() || row < u64::from(self.skip) {
            return Ok(());
        }
        if row >= MOST_ROWS || column >= MOST_COLUMNS {
            return Err(damaged(format!(
                "a cell lies in row {}, column {}, and a sheet ends at {MOST_ROWS} and {MOST_COLUMNS}",
                row.saturating_add(1),
                column.saturating_add(1)
            )));
        }
        let (row, column) = (row as u32, column as u32);
        if row != self.row {
            self.end_row()?;
            if row < self.row {
                return Err(damaged(format!(
                    "row {} comes after row {}",
                    row + 1,
                    self.row + 1
                )));
            }
            self.row = row;
        }
        self.held += CELL_BYTES + field.len() as u64;
        self.cells.insert(column, field);
        self.require(self.written() + self.held)
    }

    fn end_row(&mut self) -> Outcome<()> {
        let (Some((&first, _)), Some((&last, _))) =
            (self.cells.first_key_value(), self.cells.last_key_value())
        else {
            return Ok(());
        };
        self.held = 0;
        let begin = self.body.len();
        let mut next = first;
        for (column, field) in std::mem::take(&mut self.cells) {
            while next < column {
                self.body.push(',');
                next += 1;
            }
            self.body.push_str(&field);
        }
        self.rows.push(Line {
            row: self.row,
            first,
            last,
            begin,
        });
        self.first_column = self.first_column.min(first);
        self.last_column = self.last_column.max(last);
        self.require(self.written())
    }

    fn written(&self) -> u64 {
        self.body.len() as u64 + self.rows.len() as u64 * std::mem::size_of::<Line>() as u64
    }

    fn require(&self, bytes: u64) -> Outcome<()> {
        if bytes > self.limit {
            return Err(too_large(format!(
                "its cells need more than the {} bytes that are left",
                self.limit
            )));
        }
        Ok(())
    }

    /// Fails if the text so far and so many bytes exceed the limit.
    pub fn require_more(&self, bytes: u64) -> Outcome<()> {
        self.require(self.written().saturating_add(bytes))
    }

    /// The text. `name` is the sheet's, for a message.
    pub fn finish(mut self, name: &str) -> Outcome<String> {
        self.end_row()?;
        let Some(last) = self.rows.last() else {
            return Err(invalid(format!("its sheet '{name}' is empty")));
        };
        let width = u64::from(self.last_column - self.first_column) + 1;
        // Separators of rows that are shorter than the table, and the ends of all lines.
        let separators: u64 = self
            .rows
            .iter()
            .map(|line| width - u64::from(line.last - line.first) - 1)
            .sum();
        let size = self.body.len() as u64 + separators + u64::from(last.row) + 1;
        self.require(size)?;
        let mut text = String::with_capacity(size as usize);
        let mut row = 0;
        for (i, line) in self.rows.iter().enumerate() {
            // A blank row is a blank line, which is no record of a table of several columns.
            let blank = if width > 1 || i == 0 {
                line.row - row
            } else {
                0
            };
            text.extend(std::iter::repeat_n('\n', blank as usize));
            text.extend(std::iter::repeat_n(
                ',',
                (line.first - self.first_column) as usize,
            ));
            let end = self
                .rows
                .get(i + 1)
                .map_or(self.body.len(), |next| next.begin);
            text.push_str(&self.body[line.begin..end]);
            text.extend(std::iter::repeat_n(
                ',',
                (self.last_column - line.last) as usize,
            ));
            text.push('\n');
            row = line.row + 1;
        }
        Ok(text)
    }
}
