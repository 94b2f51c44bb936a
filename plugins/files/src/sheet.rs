//! Sheets of workbooks (XLSX, XLSM, ODS) as CSV text, for the one reader of text tables that the core has: so
//! a sheet and its export as CSV have the same header, types and missing values.
//!
//! Every row of the sheet is one record, blank ones too, so that a record's number is the row's. Numbers are written so
//! that they read back, dates as ISO dates, times of day and durations as fractions of days, errors as empty fields.
//! Cells cross from the reader to the text one by one, since a sheet may declare, or address, 17 billion cells.

use std::io::{BufReader, Cursor, Read};
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray, RecordBatch};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::{DataType, Field as Column, Schema, SchemaRef};
use calamine::{Reader as _, SheetType, SheetVisible, Xlsx};
use quick_xml::events::Event;

use crate::border::{invalid, too_large, unsupported, Outcome, Trouble};
use crate::memory::Lent;
use crate::ods::Content;
use crate::sheet_text::{value_of, SheetText};

type Archive = zip::ZipArchive<Cursor<Shared>>;

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

/// A sheet of cells.
pub struct Named {
    pub name: String,
    pub is_shown: bool,
}

/// The CSV text of a sheet, or the names of all sheets. `limit` bounds the bytes of what is unpacked and of the text.
pub fn text_of(bytes: Shared, wanted: &Wanted, limit: u64) -> Outcome<String> {
    refuse_old_kind(bytes.as_ref())?;
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes.clone())).map_err(|_| invalid("is no workbook"))?;
    match look_at(&mut archive, limit)? {
        Kind::Xlsx => xlsx_text(bytes, wanted, limit),
        Kind::Ods => ods_text(&mut archive, wanted, limit),
    }
}

fn xlsx_text(bytes: Shared, wanted: &Wanted, limit: u64) -> Outcome<String> {
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(damaged)?;
    let sheets: Vec<Named> = book
        .sheets_metadata()
        .iter()
        .filter(|s| matches!(s.typ, SheetType::WorkSheet))
        .map(|s| Named {
            name: s.name.clone(),
            is_shown: s.visible == SheetVisible::Visible,
        })
        .collect();
    if wanted.names {
        return Ok(names_of(&sheets));
    }
    let name = &sheets[chosen(&sheets, wanted)?].name;
    let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
    let mut text = SheetText::new(wanted.skip_rows, limit);
    while let Some(cell) = cells.next_cell().map_err(damaged)? {
        let (row, column) = cell.get_position();
        text.add(row.into(), column.into(), value_of(cell.get_value()))?;
    }
    text.finish(name)
}

fn ods_text(archive: &mut Archive, wanted: &Wanted, limit: u64) -> Outcome<String> {
    let sheets = content_of(archive, limit)?.sheets()?;
    if wanted.names {
        return Ok(names_of(&sheets));
    }
    let place = chosen(&sheets, wanted)?;
    let mut text = SheetText::new(wanted.skip_rows, limit);
    content_of(archive, limit)?.cells(place, &mut text)?;
    text.finish(&sheets[place].name)
}

fn content_of(archive: &mut Archive, limit: u64) -> Outcome<Content<impl std::io::BufRead + '_>> {
    let file = archive.by_name("content.xml").map_err(damaged)?;
    Ok(Content::new(BufReader::new(file), limit))
}

enum Kind {
    Xlsx,
    Ods,
}

const LOCKED: &str = "is locked with a password: save it without one";

/// What a reader says, as a sentence about the file.
pub fn damaged(why: impl std::fmt::Display) -> Trouble {
    let why = why.to_string();
    let lower = why.to_lowercase();
    if lower.contains("password") || lower.contains("encrypt") {
        return unsupported(LOCKED);
    }
    invalid(format!("is a damaged workbook: {why}"))
}

// Excel locks a workbook by wrapping it into a file of the old kind.
fn refuse_old_kind(bytes: &[u8]) -> Outcome<()> {
    if !bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
        return Ok(());
    }
    let marks: Vec<u8> = "EncryptedPackage".bytes().flat_map(|b| [b, 0]).collect();
    if bytes.windows(marks.len()).any(|part| part == marks) {
        return Err(unsupported(LOCKED));
    }
    Err(unsupported(
        "is a workbook of the old kind (XLS): save it as XLSX",
    ))
}

// Tells the kind, and unpacks all files once: what an entry declares may be a lie, so its bytes are counted. A workbook
// names its parts as it likes.
fn look_at(archive: &mut Archive, limit: u64) -> Outcome<Kind> {
    let mut kind = None;
    let mut left = limit;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.to_ascii_lowercase();
        match name.as_str() {
            "xl/workbook.xml" => kind = Some(Kind::Xlsx),
            "xl/workbook.bin" => {
                return Err(unsupported("is a binary workbook (XLSB): save it as XLSX"))
            }
            "content.xml" => kind = Some(Kind::Ods),
            _ => {}
        }
        let n = count(&mut entry, left)?;
        left -= n;
        drop(entry);
        if name.ends_with("sharedstrings.xml") {
            let entry = archive.by_index(i).map_err(damaged)?;
            check_number_of_texts(BufReader::new(entry), n)?;
        } else if name == "meta-inf/manifest.xml" {
            let mut manifest = String::new();
            let mut entry = archive.by_index(i).map_err(damaged)?;
            entry.read_to_string(&mut manifest).map_err(damaged)?;
            if manifest.contains("manifest:encryption-data") {
                return Err(unsupported(LOCKED));
            }
        }
    }
    kind.ok_or_else(|| invalid("is a ZIP archive, and no workbook"))
}

fn count(entry: &mut impl Read, limit: u64) -> Outcome<u64> {
    let mut block = [0u8; 1 << 16];
    let mut n = 0u64;
    loop {
        let got = entry.read(&mut block).map_err(damaged)?;
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

// The reader reserves room for as many texts as their list declares. Each takes at least "<si/>".
fn check_number_of_texts(list: impl std::io::BufRead, n_bytes: u64) -> Outcome<()> {
    let mut xml = quick_xml::Reader::from_reader(list);
    xml.config_mut().check_end_names = false;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match xml.read_event_into(&mut buffer).map_err(damaged)? {
            Event::Start(e) | Event::Empty(e) if e.local_name().as_ref() == "sst" => {
                for attribute in e.attributes().with_checks(false) {
                    let attribute = attribute.map_err(damaged)?;
                    let declared = attribute.value.trim().parse().unwrap_or(0_u64);
                    if attribute.key.0 == "uniqueCount" && declared > n_bytes / 5 {
                        return Err(damaged(format!(
                            "it declares {declared} texts, and holds fewer"
                        )));
                    }
                }
                return Ok(());
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn names_of(sheets: &[Named]) -> String {
    sheets
        .iter()
        .map(|s| {
            let name = s.name.replace(['\n', '\r'], " ");
            format!("{name}{}\n", if s.is_shown { "" } else { "\thidden" })
        })
        .collect()
}

// The place of the sheet that is wanted.
fn chosen(sheets: &[Named], wanted: &Wanted) -> Outcome<usize> {
    if sheets.is_empty() {
        return Err(invalid("is a workbook without a sheet of cells"));
    }
    if wanted.sheet.is_empty() {
        return Ok(sheets.iter().position(|s| s.is_shown).unwrap_or(0));
    }
    let by_name = sheets.iter().position(|s| s.name == wanted.sheet);
    let by_number = || {
        let number: usize = wanted.sheet.parse().ok()?;
        number.checked_sub(1).filter(|at| *at < sheets.len())
    };
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<String> = sheets
            .iter()
            .take(10)
            .map(|s| format!("'{}'", s.name))
            .collect();
        let more = if sheets.len() > 10 { ", ..." } else { "" };
        invalid(format!(
            "has no sheet '{}': its sheets are {}{more}",
            wanted.sheet,
            names.join(", ")
        ))
    })
}
