//! Sheets of OpenDocument workbooks (ODS): their names, and the cells of one, read as they come. The format repeats cells
//! and rows by numbers, so that 60 bytes make a billion cells: all of them go to the text, which stops at its limit.

use std::collections::HashSet;
use std::io::BufRead;

use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::QName;
use quick_xml::Reader;

use crate::border::{too_large, Outcome, Trouble};
use crate::sheet::{damaged, Named};
use crate::sheet_text::{duration, number, quoted, Field, SheetText, MOST_COLUMNS, MOST_ROWS};

/// Blanks that one element may stand for. No program lets a cell have a text as long.
const MOST_BLANKS: u64 = 1 << 20;

/// The file content.xml of a workbook. Each look at it reads it from the beginning.
pub struct Content<R> {
    xml: Reader<R>,
    limit: u64,
}

/// A value that stands in `n` cells side by side.
struct Run {
    first: u64,
    n: u64,
    field: Field,
}

impl<R: BufRead> Content<R> {
    /// `limit` bounds the text of one cell.
    pub fn new(from: R, limit: u64) -> Self {
        let mut xml = Reader::from_reader(from);
        xml.config_mut().expand_empty_elements = true;
        Content { xml, limit }
    }

    /// The sheets in their order.
    pub fn sheets(mut self) -> Outcome<Vec<Named>> {
        let mut hidden = HashSet::new();
        let mut style = None;
        let mut sheets = Vec::new();
        let mut buffer = Vec::new();
        loop {
            match self.next(&mut buffer)? {
                Event::Start(e) => match e.name().0 {
                    "style:style" => style = attribute(&e, "style:name")?,
                    "style:table-properties"
                        if attribute(&e, "table:display")?.as_deref() == Some("false") =>
                    {
                        hidden.insert(style.clone());
                    }
                    "table:table" => {
                        let is_shown = !hidden.contains(&attribute(&e, "table:style-name")?);
                        if let Some(name) = attribute(&e, "table:name")? {
                            sheets.push(Named { name, is_shown });
                        }
                        self.skip(&e)?;
                    }
                    _ => {}
                },
                Event::Eof => return Ok(sheets),
                _ => {}
            }
        }
    }

    /// Gives the cells of the sheet at this place of `sheets` to `text`.
    pub fn cells(mut self, place: usize, text: &mut SheetText) -> Outcome<()> {
        let mut n_before = 0;
        let mut buffer = Vec::new();
        loop {
            match self.next(&mut buffer)? {
                Event::Start(e) if e.name().0 == "table:table" => {
                    if attribute(&e, "table:name")?.is_none() {
                        self.skip(&e)?;
                        continue;
                    }
                    if n_before == place {
                        return self.rows(text);
                    }
                    n_before += 1;
                    self.skip(&e)?;
                }
                Event::Eof => return Err(damaged("it ends before its sheet")),
                _ => {}
            }
        }
    }

    fn rows(&mut self, text: &mut SheetText) -> Outcome<()> {
        let mut row = 0_u64;
        let mut buffer = Vec::new();
        loop {
            match self.next(&mut buffer)? {
                Event::Start(e) if e.name().0 == "table:table-row" => {
                    let end = row.saturating_add(repeats(&e, "table:number-rows-repeated")?);
                    let runs = self.row()?;
                    // A row of 50 bytes may stand for a sheet full of cells: that it will not fit is told at once.
                    let bytes = runs.iter().fold(0_u64, |bytes, run| {
                        let n = run.n.min(MOST_COLUMNS);
                        bytes.saturating_add(n.saturating_mul(run.field.len() as u64 + 1))
                    });
                    text.require_more(bytes.saturating_mul((end - row).min(MOST_ROWS)))?;
                    while row < end && !runs.is_empty() {
                        for run in &runs {
                            for column in run.first..run.first.saturating_add(run.n) {
                                text.add(row, column, run.field.clone())?;
                            }
                        }
                        row += 1;
                    }
                    row = end;
                }
                Event::Start(e) if e.name().0 == "table:table" => self.skip(&e)?,
                Event::End(e) if e.name().0 == "table:table" => return Ok(()),
                Event::Eof => return Err(damaged("its sheet is cut off")),
                _ => {}
            }
        }
    }

    // The values of a row.
    fn row(&mut self) -> Outcome<Vec<Run>> {
        let mut runs = Vec::new();
        let mut column = 0_u64;
        let mut buffer = Vec::new();
        loop {
            match self.next(&mut buffer)? {
                Event::Start(e) => match e.name().0 {
                    "table:table-cell" | "table:covered-table-cell" => {
                        let n = repeats(&e, "table:number-columns-repeated")?;
                        let field = self.cell(&e)?;
                        if !field.is_empty() {
                            let first = column;
                            runs.push(Run { first, n, field });
                        }
                        column = column.saturating_add(n);
                    }
                    _ => self.skip(&e)?,
                },
                Event::End(_) => return Ok(runs),
                Event::Eof => return Err(damaged("a row is cut off")),
                _ => {}
            }
        }
    }

    // An attribute has the value, but for texts, which may stand in the cell.
    fn cell(&mut self, start: &BytesStart<'_>) -> Outcome<Field> {
        let (mut field, mut is_text, mut is_error) = (None, false, false);
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(damaged)?;
            let value = unescape(&attribute.value).map_err(damaged)?;
            match attribute.key.0 {
                "office:value" => {
                    let parsed = value.trim().parse();
                    field = Some(number(
                        parsed.map_err(|_| damaged(format!("'{value}' is no number")))?,
                    ));
                }
                "office:string-value" | "office:date-value" => field = Some(quoted(&value)),
                "office:time-value" => field = Some(duration(&value)),
                "office:boolean-value" => field = Some(value.to_lowercase()),
                "office:value-type" => is_text = value == "string",
                "calcext:value-type" => is_error = value == "error",
                _ => {}
            }
        }
        let text = self.paragraphs(is_text && field.is_none() && !is_error)?;
        Ok(if is_error {
            Field::new()
        } else {
            field.unwrap_or_else(|| quoted(&text))
        })
    }

    // The text of a cell, up to its end. Notes and drawings that hang on the cell are no part of it.
    fn paragraphs(&mut self, wanted: bool) -> Outcome<String> {
        let mut text = String::new();
        let mut n_paragraphs = 0;
        let mut buffer = Vec::new();
        loop {
            match self.next(&mut buffer)? {
                Event::Start(e) if wanted && e.name().0 == "text:p" => {
                    if n_paragraphs > 0 {
                        text.push('\n');
                    }
                    n_paragraphs += 1;
                    self.paragraph(&mut text)?;
                }
                Event::Start(e) => self.skip(&e)?,
                Event::End(_) => return Ok(text),
                Event::Eof => return Err(damaged("a cell is cut off")),
                _ => {}
            }
        }
    }

    fn paragraph(&mut self, text: &mut String) -> Outcome<()> {
        let mut depth = 0;
        let mut buffer = Vec::new();
        loop {
            match self.next(&mut buffer)? {
                Event::Text(part) => text.push_str(&part.xml10_content()),
                Event::CData(part) => text.push_str(&part.xml10_content()),
                Event::GeneralRef(entity) => text.push_str(&resolved(&entity)?),
                Event::Start(e) => match e.name().0 {
                    "office:annotation" | "text:note" => self.skip(&e)?,
                    name => {
                        depth += 1;
                        match name {
                            "text:s" => self.blanks(repeats(&e, "text:c")?, text)?,
                            "text:tab" => text.push('\t'),
                            "text:line-break" => text.push('\n'),
                            _ => {}
                        }
                    }
                },
                Event::End(_) if depth == 0 => return self.require(text.len() as u64),
                Event::End(_) => depth -= 1,
                Event::Eof => return Err(damaged("a text is cut off")),
                _ => {}
            }
        }
    }

    fn blanks(&self, n: u64, text: &mut String) -> Outcome<()> {
        self.require(n.saturating_add(text.len() as u64))?;
        if n > MOST_BLANKS {
            return Err(too_large(format!(
                "a text of {n} blanks is larger than the {MOST_BLANKS} that are read"
            )));
        }
        text.extend(std::iter::repeat_n(' ', n as usize));
        Ok(())
    }

    fn require(&self, bytes: u64) -> Outcome<()> {
        if bytes > self.limit {
            return Err(too_large(format!(
                "a text of {bytes} bytes is larger than the {} bytes that are left",
                self.limit
            )));
        }
        Ok(())
    }

    fn next<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Outcome<Event<'b>> {
        buffer.clear();
        self.xml.read_event_into(buffer).map_err(damaged)
    }

    // Reads on to the end of an element.
    fn skip(&mut self, start: &BytesStart<'_>) -> Outcome<()> {
        let mut buffer = Vec::new();
        self.xml
            .read_to_end_into(QName(start.name().0), &mut buffer)
            .map_err(damaged)?;
        Ok(())
    }
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Outcome<Option<String>> {
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(damaged)?;
        if attribute.key.0 == name {
            let value = unescape(&attribute.value).map_err(damaged)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

// How often a cell, a row or a blank stands there.
fn repeats(start: &BytesStart<'_>, name: &str) -> Outcome<u64> {
    match attribute(start, name)? {
        None => Ok(1),
        Some(text) => text
            .trim()
            .parse()
            .map_err(|_| damaged(format!("'{text}' is no number of repetitions"))),
    }
}

fn resolved(entity: &BytesRef<'_>) -> Outcome<String> {
    if let Some(text) = resolve_predefined_entity(entity) {
        return Ok(text.to_string());
    }
    match entity.resolve_char_ref() {
        Ok(Some(c)) => Ok(c.to_string()),
        _ => Err::<String, Trouble>(damaged("it uses an entity that XML does not have")),
    }
}
