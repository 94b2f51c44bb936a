//! Page headers of Parquet, walked over before any page is read. The reader reserves what a header declares, so that
//! what it declares is compared with the file and the limit first. The layout is PageHeader of parquet.thrift.

use parquet::file::metadata::ColumnChunkMetaData;

use crate::border::{invalid, too_large, Outcome};
use crate::lying_pages::check_unpacked;
use crate::thrift::Reader;

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;
const PLAIN_DICTIONARY: i64 = 2;
const DELTA_BYTE_ARRAY: i64 = 7;
const RLE_DICTIONARY: i64 = 8;

/// From here on a page that becomes a thousand times larger is refused. Smaller ones are constant columns.
const LARGE_PAGE: u64 = 64 << 20;
const MOST_EXPANSION: u64 = 1000;

/// What the pages of a column in a row group are like.
#[derive(Default, Clone, Copy)]
pub struct Pages {
    pub largest: u64,
    pub dictionary: u64,
    pub n_values: i64,
    /// Values of pages whose values are indices into the dictionary.
    pub n_indices: i64,
    /// The largest page whose strings are pieces of each other; 0 where there is none.
    pub largest_delta: u64,
}

impl Pages {
    pub fn join(&mut self, other: &Pages) {
        self.largest = self.largest.max(other.largest);
        self.dictionary = self.dictionary.max(other.dictionary);
        self.n_values += other.n_values;
        self.n_indices += other.n_indices;
        self.largest_delta = self.largest_delta.max(other.largest_delta);
    }
}

/// Walks over the pages of a chunk. `limit` is what one page may become.
pub fn pages_of(file: &[u8], chunk: &ColumnChunkMetaData, limit: u64) -> Outcome<Pages> {
    let data = chunk.data_page_offset();
    let first = match chunk.dictionary_page_offset() {
        Some(at) if at > 0 && at < data => at,
        _ => data,
    };
    let outside = || invalid("its pages lie outside the file");
    let begin = usize::try_from(first).map_err(|_| outside())?;
    let size = usize::try_from(chunk.compressed_size()).map_err(|_| outside())?;
    let end = begin
        .checked_add(size)
        .filter(|end| *end <= file.len())
        .ok_or_else(outside)?;
    let mut header = Reader {
        bytes: &file[..end],
        at: begin,
    };
    let mut pages = Pages::default();
    while header.at < end && pages.n_values < chunk.num_values() {
        let page = page_at(&mut header)?;
        let there = u64::try_from(page.bytes).map_err(|_| damaged())?;
        let becomes = u64::try_from(page.becomes).map_err(|_| damaged())?;
        if there > (end - header.at) as u64 {
            return Err(invalid("a page ends behind its column"));
        }
        if becomes > LARGE_PAGE && becomes / MOST_EXPANSION > there {
            return Err(invalid(format!(
                "a page of {there} bytes says that it becomes {becomes} bytes"
            )));
        }
        if becomes > limit {
            return Err(too_large(format!(
                "a page becomes {becomes} bytes, more than the {limit} that a page may take"
            )));
        }
        let begin = header.at;
        header.at += there as usize;
        if page.is_packed {
            // The levels of a page of the second kind lie in front of its values, as they are.
            let levels = u64::try_from(page.levels).map_err(|_| damaged())?;
            let (Some(packed), Some(declared)) = (
                file[begin..header.at].get(levels as usize..),
                becomes.checked_sub(levels),
            ) else {
                return Err(damaged());
            };
            check_unpacked(chunk.compression(), packed, declared, limit)?;
        }
        pages.take(&page, becomes)?;
    }
    if pages.n_values != chunk.num_values() {
        return Err(invalid(format!(
            "its pages hold {} of its {} values",
            pages.n_values,
            chunk.num_values()
        )));
    }
    Ok(pages)
}

impl Pages {
    fn take(&mut self, page: &Page, becomes: u64) -> Outcome<()> {
        match page.kind {
            DICTIONARY => self.dictionary += becomes,
            DATA | DATA_V2 => {
                if page.n_values < 0 {
                    return Err(damaged());
                }
                self.largest = self.largest.max(becomes);
                self.n_values = self
                    .n_values
                    .checked_add(page.n_values)
                    .ok_or_else(damaged)?;
                match page.encoding {
                    PLAIN_DICTIONARY | RLE_DICTIONARY => self.n_indices += page.n_values,
                    DELTA_BYTE_ARRAY => self.largest_delta = self.largest_delta.max(becomes),
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn damaged() -> crate::border::Trouble {
    invalid("the header of a page is damaged")
}

struct Page {
    kind: i64,
    becomes: i64,
    bytes: i64,
    n_values: i64,
    encoding: i64,
    levels: i64,
    is_packed: bool,
}

fn page_at(reader: &mut Reader<'_>) -> Outcome<Page> {
    let mut page = Page {
        kind: -1,
        becomes: -1,
        bytes: -1,
        n_values: -1,
        encoding: -1,
        levels: 0,
        is_packed: true,
    };
    reader.fields(0, &mut |reader, number, kind| {
        match (number, kind) {
            (1, 5) => page.kind = reader.integer()?,
            (2, 5) => page.becomes = reader.integer()?,
            (3, 5) => page.bytes = reader.integer()?,
            (5, 12) => values(reader, 2, &mut page)?,
            (8, 12) => values(reader, 4, &mut page)?,
            _ => reader.skip(kind, 1)?,
        }
        Ok(())
    })?;
    Ok(page)
}

// DataPageHeader and DataPageHeaderV2: the first field counts the values, another names their encoding. Three others
// are the second one's alone: the bytes of both kinds of levels, and that nothing is packed.
fn values(reader: &mut Reader<'_>, encoding_field: i64, page: &mut Page) -> Outcome<()> {
    reader.fields(1, &mut |reader, number, kind| {
        match (number, kind) {
            (1, 5) => page.n_values = reader.integer()?,
            (n, 5) if n == encoding_field => page.encoding = reader.integer()?,
            (5 | 6, 5) => {
                let bytes = reader.integer()?;
                page.levels = page.levels.checked_add(bytes).ok_or_else(damaged)?;
            }
            (7, 2) => page.is_packed = false,
            _ => reader.skip(kind, 2)?,
        }
        Ok(())
    })
}
