//! Arrow IPC files (Feather): batches that are found by the list at the file's end. What is not compressed is used where
//! it lies.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{root_as_footer_with_opts, Block, Field as FlatField};
use arrow_schema::SchemaRef;
use flatbuffers::VerifierOptions;

use crate::border::{invalid, unsupported, Facts, Outcome, Trouble};
use crate::ipc_check::{check_body, message_in, Body};

const MAGIC: &[u8] = b"ARROW1";
/// Tables have at most a few million columns; a column takes two tables of the footer.
const MOST_FLAT_TABLES: usize = 20_000_000;

pub struct IpcFile {
    buffer: Buffer,
    schema: SchemaRef,
    batches: Vec<Block>,
    rows: Vec<i64>,
    dictionaries: Vec<Block>,
    /// Numbers of the dictionaries of each column.
    ids: Vec<HashSet<i64>>,
    values: HashMap<i64, ArrayRef>,
}

fn options() -> VerifierOptions {
    VerifierOptions {
        max_tables: MOST_FLAT_TABLES,
        ..Default::default()
    }
}

impl IpcFile {
    pub fn open(buffer: Buffer) -> Outcome<Self> {
        let bytes = buffer.as_slice();
        if bytes.starts_with(b"FEA1") {
            return Err(unsupported(
                "is a Feather file of version 1, which pyarrow reads: pyarrow.feather.write_feather writes version 2",
            ));
        }
        if !bytes.starts_with(MAGIC) {
            return Err(invalid(
                "is not an Arrow file: it does not begin with ARROW1",
            ));
        }
        if bytes.len() < 18 || !bytes.ends_with(MAGIC) {
            return Err(invalid(
                "is not a whole Arrow file: its end, where its batches are listed, is missing",
            ));
        }
        let tail = bytes.len() - 10;
        let length = i32::from_le_bytes([
            bytes[tail],
            bytes[tail + 1],
            bytes[tail + 2],
            bytes[tail + 3],
        ]);
        let begin = usize::try_from(length)
            .ok()
            .and_then(|length| tail.checked_sub(length))
            .ok_or_else(|| invalid("the list of its batches is longer than the file"))?;
        let footer = root_as_footer_with_opts(&options(), &bytes[begin..tail])
            .map_err(|_| invalid("the list of its batches is damaged"))?;
        let flat = footer
            .schema()
            .ok_or_else(|| invalid("it lists no columns"))?;
        let mut ids = Vec::new();
        for field in flat.fields().into_iter().flatten() {
            let mut found = HashSet::new();
            ids_of(&field, 0, &mut found)?;
            ids.push(found);
        }
        let schema = Arc::new(try_fb_to_schema(flat)?);
        let batches: Vec<Block> = footer
            .recordBatches()
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let dictionaries = footer
            .dictionaries()
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let mut file = IpcFile {
            buffer: buffer.clone(),
            schema,
            batches,
            rows: Vec::new(),
            dictionaries,
            ids,
            values: HashMap::new(),
        };
        file.rows = file
            .batches
            .iter()
            .map(|block| file.rows_in(block))
            .collect::<Outcome<Vec<i64>>>()?;
        Ok(file)
    }

    fn rows_in(&self, block: &Block) -> Outcome<i64> {
        let bytes = self.block(block)?;
        let message = message_in(&bytes)?;
        let batch = message
            .header_as_record_batch()
            .ok_or_else(|| invalid("a listed batch is no batch"))?;
        Some(batch.length())
            .filter(|rows| *rows >= 0)
            .ok_or_else(|| invalid("a batch has a negative number of rows"))
    }

    // The bytes of a message and of its body.
    fn block(&self, block: &Block) -> Outcome<Buffer> {
        let outside = || invalid("a batch lies outside the file");
        let begin = usize::try_from(block.offset()).map_err(|_| outside())?;
        let head = usize::try_from(block.metaDataLength()).map_err(|_| outside())?;
        let body = usize::try_from(block.bodyLength()).map_err(|_| outside())?;
        let size = head.checked_add(body).ok_or_else(outside)?;
        begin
            .checked_add(size)
            .filter(|end| *end <= self.buffer.len() && head >= 8)
            .ok_or_else(outside)?;
        Ok(self.buffer.slice_with_length(begin, size))
    }

    fn checked(&self, block: &Block, limit: u64) -> Outcome<Body> {
        let bytes = self.block(block)?;
        let head = block.metaDataLength() as usize;
        let message = message_in(&bytes[..head])?;
        check_body(&message, &bytes[head..], limit)
    }

    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    pub fn n_groups(&self) -> usize {
        self.batches.len()
    }

    pub fn rows_of(&self, group: usize) -> i64 {
        self.rows[group]
    }

    /// Checks all batches, and reads the dictionaries of the chosen columns.
    pub fn prepare(&mut self, columns: &[usize], limit: u64) -> Outcome<Facts> {
        let mut facts = Facts {
            held_bytes: 0,
            largest_page: 0,
            whole_batch: 0,
            padding: 0,
        };
        let mut compressed = false;
        for (number, block) in self.batches.iter().enumerate() {
            let body = self.checked(block, limit).map_err(|trouble| Trouble {
                code: trouble.code,
                text: format!("batch {}: {}", number + 1, trouble.text),
            })?;
            compressed |= body.compressed;
            if body.compressed {
                let largest = i64::try_from(body.largest).unwrap_or(i64::MAX);
                facts.largest_page = facts.largest_page.max(largest);
                facts.held_bytes = facts.held_bytes.max(largest.saturating_mul(3));
                // validity, offsets, values
            }
        }
        facts.whole_batch = i32::from(self.batches.len() == 1 && !compressed);
        let wanted: HashSet<i64> = columns
            .iter()
            .filter_map(|c| self.ids.get(*c))
            .flatten()
            .copied()
            .collect();
        let mut values = HashMap::new();
        for block in &self.dictionaries {
            let body = self.checked(block, limit)?;
            let bytes = self.block(block)?;
            let head = block.metaDataLength() as usize;
            let message = message_in(&bytes[..head])?;
            let Some(dictionary) = message.header_as_dictionary_batch() else {
                return Err(invalid("a listed dictionary is no dictionary"));
            };
            if wanted.contains(&dictionary.id()) {
                facts.largest_page = facts
                    .largest_page
                    .max(i64::try_from(body.largest).unwrap_or(i64::MAX));
                read_dictionary(
                    &bytes.slice(head),
                    dictionary,
                    &self.schema,
                    &mut values,
                    &message.version(),
                )?;
            }
        }
        self.values = values;
        Ok(facts)
    }

    /// The chosen columns of a batch.
    pub fn batch(&self, group: usize, columns: &[usize]) -> Outcome<RecordBatch> {
        let block = &self.batches[group];
        let bytes = self.block(block)?;
        let head = block.metaDataLength() as usize;
        let message = message_in(&bytes[..head])?;
        let batch = message
            .header_as_record_batch()
            .ok_or_else(|| invalid("a listed batch is no batch"))?;
        let body = bytes.slice(head);
        chosen_columns(columns, self.schema.fields().len(), |projection| {
            Ok(read_record_batch(
                &body,
                batch,
                self.schema.clone(),
                &self.values,
                projection,
                &message.version(),
            )?)
        })
    }
}

/// Reads the chosen of `n_columns` columns. The reader compares every column with every chosen one, so that a table of
/// millions of columns is read as a whole where that is possible.
pub fn chosen_columns(
    columns: &[usize],
    n_columns: usize,
    read: impl Fn(Option<&[usize]>) -> Outcome<RecordBatch>,
) -> Outcome<RecordBatch> {
    const MOST_COMPARED: usize = 1 << 30;
    if columns.iter().copied().eq(0..n_columns) {
        return read(None);
    }
    if columns.len().saturating_mul(n_columns) > MOST_COMPARED {
        if let Ok(all) = read(None) {
            return Ok(all.project(columns)?);
        }
    }
    read(Some(columns))
}

// A column's own dictionary and those of its children.
fn ids_of(field: &FlatField<'_>, depth: u32, found: &mut HashSet<i64>) -> Outcome<()> {
    if depth > 64 {
        return Err(invalid("its columns are nested too deeply"));
    }
    if let Some(dictionary) = field.dictionary() {
        found.insert(dictionary.id());
    }
    for child in field.children().into_iter().flatten() {
        ids_of(&child, depth + 1, found)?;
    }
    Ok(())
}
