//! Page headers of Parquet, walked over before any page is read. The reader reserves what a header declares, so that
//! what it declares is compared with the file and the limit first. The layout is PageHeader of parquet.thrift, in
//! Thrift's compact protocol.

use parquet::file::metadata::ColumnChunkMetaData;

use crate::border::{invalid, too_large, Outcome};

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;
const PLAIN_DICTIONARY: i64 = 2;
const DELTA_BYTE_ARRAY: i64 = 7;
const RLE_DICTIONARY: i64 = 8;

const DEEPEST: u32 = 12;
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
        let page = header.page()?;
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
        header.at += there as usize;
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

/// Whether the footer has this field. A footer that is damaged before has not.
pub fn footer_has(file: &[u8], wanted: i64) -> bool {
    let Some(tail) = file.len().checked_sub(8) else {
        return false;
    };
    let length =
        u32::from_le_bytes([file[tail], file[tail + 1], file[tail + 2], file[tail + 3]]) as usize;
    let Some(begin) = tail.checked_sub(length) else {
        return false;
    };
    let mut found = false;
    let _ = Reader {
        bytes: &file[..tail],
        at: begin,
    }
    .fields(0, &mut |reader, number, kind| {
        found |= number == wanted;
        reader.skip(kind, 1)
    });
    found
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

#[derive(Default)]
struct Page {
    kind: i64,
    becomes: i64,
    bytes: i64,
    n_values: i64,
    encoding: i64,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn page(&mut self) -> Outcome<Page> {
        let mut page = Page {
            kind: -1,
            becomes: -1,
            bytes: -1,
            n_values: -1,
            encoding: -1,
        };
        self.fields(0, &mut |reader, number, kind| {
            match (number, kind) {
                (1, 5) => page.kind = reader.integer()?,
                (2, 5) => page.becomes = reader.integer()?,
                (3, 5) => page.bytes = reader.integer()?,
                (5, 12) => reader.values(2, &mut page)?,
                (8, 12) => reader.values(4, &mut page)?,
                _ => reader.skip(kind, 1)?,
            }
            Ok(())
        })?;
        Ok(page)
    }

    // DataPageHeader and DataPageHeaderV2: the first field counts the values, another names their encoding.
    fn values(&mut self, encoding_field: i64, page: &mut Page) -> Outcome<()> {
        self.fields(1, &mut |reader, number, kind| {
            match (number, kind) {
                (1, 5) => page.n_values = reader.integer()?,
                (n, 5) if n == encoding_field => page.encoding = reader.integer()?,
                _ => reader.skip(kind, 2)?,
            }
            Ok(())
        })
    }

    fn fields(
        &mut self,
        depth: u32,
        take: &mut dyn FnMut(&mut Self, i64, u8) -> Outcome<()>,
    ) -> Outcome<()> {
        if depth > DEEPEST {
            return Err(damaged());
        }
        let mut number = 0_i64;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Ok(());
            }
            let step = i64::from(byte >> 4);
            number = if step == 0 {
                self.integer()?
            } else {
                number + step
            };
            take(self, number, byte & 15)?;
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Outcome<()> {
        if depth > DEEPEST {
            return Err(damaged());
        }
        match kind {
            1 | 2 => Ok(()),
            3 => self.advance(1),
            4..=6 => self.integer().map(|_| ()),
            7 => self.advance(8),
            8 => {
                let size = self.varint()?;
                self.advance(usize::try_from(size).map_err(|_| damaged())?)
            }
            9 | 10 => self.skip_list(depth),
            12 => self.fields(depth, &mut |reader, _, kind| reader.skip(kind, depth + 1)),
            _ => Err(damaged()),
        }
    }

    fn skip_list(&mut self, depth: u32) -> Outcome<()> {
        let byte = self.byte()?;
        let length = if byte >> 4 == 15 {
            self.varint()?
        } else {
            u64::from(byte >> 4)
        };
        for _ in 0..length {
            match byte & 15 {
                1 | 2 => self.advance(1)?,
                kind => self.skip(kind, depth + 1)?,
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> Outcome<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(damaged)?;
        self.at += 1;
        Ok(byte)
    }

    fn advance(&mut self, n: usize) -> Outcome<()> {
        self.at = self
            .at
            .checked_add(n)
            .filter(|at| *at <= self.bytes.len())
            .ok_or_else(damaged)?;
        Ok(())
    }

    fn integer(&mut self) -> Outcome<i64> {
        let value = self.varint()?;
        Ok(((value >> 1) as i64) ^ -((value & 1) as i64))
    }

    fn varint(&mut self) -> Outcome<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(damaged())
    }
}
