//! Sheets of workbooks (XLSX, XLSM, ODS) as CSV text, for the one reader of text tables that the core has: so
//! a sheet and its export as CSV have the same header, types and missing values.
//!
//! Every row of the sheet is one record, blank ones too, so that a record's number is the row's. Numbers are written so
//! that they read back, dates as ISO dates, times of day and durations as fractions of days, errors as empty fields.
//! Cells cross from the reader to the text one by one where the format allows it, since a sheet may declare, or
//! address, 17 billion cells.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Cursor, Read};

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray, RecordBatch};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::{DataType, Field as Column, Schema, SchemaRef};
use calamine::{
    Data, DataRef, ExcelDateTime, Ods, Range, Reader, Sheet, SheetType, SheetVisible, Xlsx,
};

use crate::border::{invalid, too_large, unsupported, Outcome};
use crate::memory::Lent;

/// The bytes of a workbook, which its readers share.
#[derive(Clone)]
pub struct Shared(pub Arc<Lent>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref().as_ref()
    }
}

/// A text as one row of one column, which shares its memory.
pub fn batch_of(text: String) -> Outcome<(RecordBatch, SchemaRef)> {
    let schema = Arc::new(Schema::new(vec![Column::new(
        "text",
        DataType::LargeBinary,
        false,
    )]));
    let offsets = OffsetBuffer::from_lengths([text.len()]);
    let column: ArrayRef = Arc::new(LargeBinaryArray::new(
        offsets,
        Buffer::from_vec(text.into_bytes()),
        None,
    ));
    let batch = RecordBatch::try_new(schema.clone(), vec![column])?;
    Ok((batch, schema))
}

/// What is wanted of a workbook.
#[derive(Default)]
pub struct Wanted<'a> {
    /// A sheet's name, else its number from 1; empty: the first one that is shown.
    pub sheet: &'a str,
    /// Rows of the sheet before the table.
    pub skip_rows: u32,
    /// The names of the sheets in place of a table, one a line; a tab and "hidden" behind those that are not shown.
    pub names: bool,
}

impl<'a> Wanted<'a> {
    /// From lines "sheet=NAME", "skip=N", "names".
    pub fn parse(text: &'a str) -> Outcome<Self> {
        let mut wanted = Wanted::default();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("sheet=") {
                wanted.sheet = name;
            } else if let Some(number) = line.strip_prefix("skip=") {
                wanted.skip_rows = number
                    .parse()
                    .map_err(|_| invalid("skip is no number of rows"))?;
            } else if line == "names" {
                wanted.names = true;
            }
        }
        Ok(wanted)
    }
}

/// The CSV text of a sheet, or the names of all sheets. `limit` bounds the bytes of what is unpacked and of the text.
pub fn text_of(bytes: Shared, wanted: &Wanted, limit: u64) -> Outcome<String> {
    let kind = kind_of(bytes.as_ref(), limit)?;
    let cursor = Cursor::new(bytes);
    match kind {
        Kind::Xlsx => {
            let mut book = Xlsx::new(cursor).map_err(|e| refused(&e.to_string()))?;
            let Some(name) = chosen(book.sheets_metadata(), wanted)? else {
                return Ok(names_of(book.sheets_metadata()));
            };
            let mut cells = book
                .worksheet_cells_reader(&name)
                .map_err(|e| refused(&e.to_string()))?;
            let mut text = SheetText::new(wanted.skip_rows, limit);
            while let Some(cell) = cells.next_cell().map_err(|e| refused(&e.to_string()))? {
                text.add(cell.get_position(), value_of_ref(cell.get_value()))?;
            }
            text.finish(&name)
        }
        Kind::Ods => {
            let mut book = Ods::new(cursor).map_err(|e| refused(&e.to_string()))?;
            let Some(name) = chosen(book.sheets_metadata(), wanted)? else {
                return Ok(names_of(book.sheets_metadata()));
            };
            let range = book
                .worksheet_range(&name)
                .map_err(|e| refused(&e.to_string()))?;
            text_of_range(&range, &name, wanted, limit)
        }
    }
}

enum Kind {
    Xlsx,
    Ods,
}

// What a reader says, as a sentence about the file.
fn refused(why: &str) -> crate::border::Trouble {
    let lower = why.to_lowercase();
    if lower.contains("password") || lower.contains("encrypt") {
        return unsupported("is locked with a password: save it without one");
    }
    invalid(format!("is a damaged workbook: {why}"))
}

fn kind_of(bytes: &[u8], limit: u64) -> Outcome<Kind> {
    if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
        // Excel locks a workbook by wrapping it into a file of the old kind.
        let marks: Vec<u8> = "EncryptedPackage".bytes().flat_map(|b| [b, 0]).collect();
        if bytes.windows(marks.len()).any(|part| part == marks) {
            return Err(refused("password"));
        }
        return Err(unsupported(
            "is a workbook of the old kind (XLS): save it as XLSX",
        ));
    }
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).map_err(|_| invalid("is no workbook"))?;
    let mut kind = None;
    let mut left = limit;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(|e| refused(&e.to_string()))?;
        let name = entry
            .name()
            .map_err(|e| refused(&e.to_string()))?
            .to_ascii_lowercase();
        match name.as_str() {
            "xl/workbook.xml" => kind = Some(Kind::Xlsx),
            "xl/workbook.bin" => {
                return Err(unsupported("is a binary workbook (XLSB): save it as XLSX"))
            }
            "content.xml" => kind = Some(Kind::Ods),
            _ => {}
        }
        if !(name.ends_with(".xml") || name.ends_with(".bin") || name.ends_with(".rels")) {
            continue;
        }
        // What an entry declares may be a lie, so its bytes are counted.
        left -= count(&mut entry, left)?;
        if name == "content.xml" {
            drop(entry);
            let mut xml = String::new();
            let mut entry = archive.by_index(i).map_err(|e| refused(&e.to_string()))?;
            entry
                .read_to_string(&mut xml)
                .map_err(|e| refused(&e.to_string()))?;
            check_repeats(&xml, limit)?;
        }
    }
    kind.ok_or_else(|| invalid("is a ZIP archive, and no workbook"))
}

fn count(entry: &mut impl Read, limit: u64) -> Outcome<u64> {
    let mut block = [0u8; 1 << 16];
    let mut n = 0u64;
    loop {
        let got = entry
            .read(&mut block)
            .map_err(|e| refused(&e.to_string()))?;
        if got == 0 {
            return Ok(n);
        }
        n += got as u64;
        if n > limit {
            return Err(too_large(format!(
                "its unpacked sheets need more than the {limit} bytes that are left"
            )));
        }
    }
}

// OpenDocument repeats cells and rows by numbers, and its reader writes them out: some 60 bytes make a billion cells.
fn check_repeats(xml: &str, limit: u64) -> Outcome<()> {
    const CELL: u64 = 64;
    let number = |tag: &str, name: &str| -> u64 {
        let Some(at) = tag.find(name) else { return 1 };
        let digits: String = tag[at + name.len()..]
            .chars()
            .skip_while(|c| !c.is_ascii_digit())
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().unwrap_or(u64::MAX)
    };
    let (mut rows, mut width, mut filled, mut cells) = (1u64, 0u64, false, 0u64);
    for tag in xml.split('<').skip(1) {
        if tag.starts_with("table:table-row") {
            (rows, width, filled) = (number(tag, "number-rows-repeated="), 0, false);
        } else if tag.starts_with("table:table-cell") || tag.starts_with("table:covered-table-cell")
        {
            let repeats = number(tag, "number-columns-repeated=");
            if !tag.contains("value-type=") {
                width = width.saturating_add(if repeats > 1024 { 0 } else { repeats });
                continue;
            }
            filled = true;
            width = width.saturating_add(repeats);
        } else if tag.starts_with("/table:table-row") {
            cells = cells.saturating_add(width.saturating_mul(if filled { rows } else { 1 }));
        }
        if cells.saturating_mul(CELL) > limit || width.saturating_mul(CELL) > limit {
            return Err(too_large(format!(
                "its sheets repeat cells that need more than the {limit} bytes that are left"
            )));
        }
    }
    Ok(())
}

fn is_shown(sheet: &Sheet) -> bool {
    sheet.visible == SheetVisible::Visible
}

fn names_of(sheets: &[Sheet]) -> String {
    sheets
        .iter()
        .filter(|s| is_table(s))
        .map(|s| format!("{}{}\n", s.name, if is_shown(s) { "" } else { "\thidden" }))
        .collect()
}

fn is_table(sheet: &Sheet) -> bool {
    matches!(sheet.typ, SheetType::WorkSheet)
}

// The name of the sheet that is wanted; None where the names of all are.
fn chosen(sheets: &[Sheet], wanted: &Wanted) -> Outcome<Option<String>> {
    if wanted.names {
        return Ok(None);
    }
    let tables: Vec<&Sheet> = sheets.iter().filter(|s| is_table(s)).collect();
    let found = if wanted.sheet.is_empty() {
        tables
            .iter()
            .find(|s| is_shown(s))
            .or_else(|| tables.first())
    } else {
        tables.iter().find(|s| s.name == wanted.sheet).or_else(|| {
            let number: usize = wanted.sheet.parse().ok()?;
            tables.get(number.checked_sub(1)?)
        })
    };
    match found {
        Some(sheet) => Ok(Some(sheet.name.clone())),
        None if tables.is_empty() => Err(invalid("is a workbook without a sheet of cells")),
        None => {
            let names: Vec<String> = tables
                .iter()
                .take(10)
                .map(|s| format!("'{}'", s.name))
                .collect();
            let more = if tables.len() > 10 { ", ..." } else { "" };
            Err(invalid(format!(
                "has no sheet '{}': its sheets are {}{more}",
                wanted.sheet,
                names.join(", ")
            )))
        }
    }
}

fn text_of_range(range: &Range<Data>, name: &str, wanted: &Wanted, limit: u64) -> Outcome<String> {
    let mut text = SheetText::new(wanted.skip_rows, limit);
    let start = range.start().unwrap_or((0, 0));
    for (row, column, value) in range.used_cells() {
        text.add(
            (start.0 + row as u32, start.1 + column as u32),
            value_of(value),
        )?;
    }
    text.finish(name)
}

/// A cell as a field of CSV; empty: no value.
type Field = String;

fn value_of_ref(value: &DataRef) -> Field {
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

fn value_of(value: &Data) -> Field {
    match value {
        Data::Int(n) => n.to_string(),
        Data::Float(v) => number(*v),
        Data::String(s) => quoted(s),
        Data::Bool(b) => b.to_string(),
        Data::DateTime(d) => date(d),
        Data::DateTimeIso(s) => quoted(s),
        Data::DurationIso(s) => duration(s),
        _ => String::new(),
    }
}

// The shortest text that reads back. Digits alone would be taken for a key where a double does not hold them all.
fn number(value: f64) -> Field {
    if value.abs() < 1e15 && (value == 0.0 || value.abs() >= 1e-5) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

// A text is quoted only where its characters need it: so NA is missing here as it is in a CSV file.
fn quoted(text: &str) -> Field {
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

// PT10H30M00S as a fraction of a day; what is spelled otherwise stays text.
fn duration(text: &str) -> Field {
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
struct SheetText {
    skip: u32,
    limit: u64,
    row: u32,
    cells: BTreeMap<u32, Field>,
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
    fn new(skip: u32, limit: u64) -> Self {
        SheetText {
            skip,
            limit,
            row: 0,
            cells: BTreeMap::new(),
            rows: Vec::new(),
            body: String::new(),
            first_column: u32::MAX,
            last_column: 0,
        }
    }

    fn add(&mut self, (row, column): (u32, u32), field: Field) -> Outcome<()> {
        if field.is_empty() || row < self.skip {
            return Ok(());
        }
        if row != self.row {
            self.end_row()?;
            if row < self.row {
                return Err(invalid(format!(
                    "is a damaged workbook: row {} comes after row {}",
                    row + 1,
                    self.row + 1
                )));
            }
            self.row = row;
        }
        self.cells.insert(column, field);
        Ok(())
    }

    fn end_row(&mut self) -> Outcome<()> {
        let (Some((&first, _)), Some((&last, _))) =
            (self.cells.first_key_value(), self.cells.last_key_value())
        else {
            return Ok(());
        };
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
        self.require(
            self.body.len() as u64 + self.rows.len() as u64 * std::mem::size_of::<Line>() as u64,
        )
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

    fn finish(mut self, name: &str) -> Outcome<String> {
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
