//! Arrow IPC streams: messages one after the other, from memory or as they come through a pipe.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::MessageHeader;
use arrow_schema::SchemaRef;

use crate::border::{invalid, too_large, Outcome, Source, Trouble, STOPPED};
use crate::ipc_check::check_body;
use crate::ipc_file::chosen_columns;

/// Heads are read whole before anything else is known of a message.
const MOST_HEAD_BYTES: u64 = 1 << 30;
const STEP: usize = 1 << 20;

/// Where a stream comes from.
pub trait Messages: Send {
    /// The next bytes; fewer at the end.
    fn take(&mut self, size: usize) -> Outcome<Buffer>;
}

/// A stream that lies in memory. What it gives lies there, too.
pub struct InMemory {
    pub buffer: Buffer,
    pub at: usize,
}

impl Messages for InMemory {
    fn take(&mut self, size: usize) -> Outcome<Buffer> {
        let there = size.min(self.buffer.len() - self.at);
        let taken = self.buffer.slice_with_length(self.at, there);
        self.at += there;
        Ok(taken)
    }
}

/// A stream that the core reads from a pipe.
pub struct Piped(pub Source);

// SAFETY: the core's callback may be called from whichever thread reads the stream.
unsafe impl Send for Piped {}

impl Messages for Piped {
    fn take(&mut self, size: usize) -> Outcome<Buffer> {
        let read = self
            .0
            .read
            .ok_or_else(|| invalid("there is nothing to read from"))?;
        // It grows with what comes: the size is only what the stream declares.
        let mut bytes: Vec<u8> = Vec::new();
        while bytes.len() < size {
            let step = (size - bytes.len()).min(STEP.max(bytes.len()));
            bytes
                .try_reserve(step)
                .map_err(|_| too_large(format!("a message of {size} bytes")))?;
            let begin = bytes.len();
            bytes.resize(begin + step, 0);
            // SAFETY: `step` bytes lie behind `begin`.
            let got = unsafe { read(self.0.context, bytes[begin..].as_mut_ptr(), step as i64) };
            let got = usize::try_from(got).map_err(|_| Trouble {
                code: STOPPED,
                text: String::new(),
            })?;
            bytes.truncate(begin + got.min(step));
            if got == 0 {
                break;
            }
        }
        Ok(Buffer::from_vec(bytes))
    }
}

pub struct IpcStream {
    from: Box<dyn Messages>,
    schema: SchemaRef,
    values: HashMap<i64, ArrayRef>,
    columns: Option<Vec<usize>>,
    limit: u64,
    n_batches: u64,
    /// How many batches had come before the present values of a dictionary.
    since: HashMap<i64, u64>,
    /// Bytes of dictionaries that have been replaced or added to, while batches hold them as they were.
    held: u64,
}

struct Raw {
    head: Buffer,
    body: Buffer,
}

// None at the end: the marker of the end, or no more bytes.
fn next_message(from: &mut dyn Messages, limit: u64) -> Outcome<Option<Raw>> {
    let cut = || invalid("the stream is cut off within a message");
    let mut prefix = from.take(4)?;
    if prefix.is_empty() {
        return Ok(None);
    }
    if prefix.as_slice() == [0xff; 4] {
        prefix = from.take(4)?; // since Arrow 0.15 a marker comes before the length
    }
    let size: [u8; 4] = prefix.as_slice().try_into().map_err(|_| cut())?;
    let size = u64::try_from(i32::from_le_bytes(size))
        .map_err(|_| invalid("a message has a negative length"))?;
    if size == 0 {
        return Ok(None);
    }
    if size > MOST_HEAD_BYTES.min(limit) {
        return Err(too_large(format!("the head of a message has {size} bytes")));
    }
    let head = from.take(size as usize)?;
    if head.len() as u64 != size {
        return Err(cut());
    }
    let message = arrow_ipc::root_as_message(&head)
        .map_err(|_| invalid("the head of a message is damaged"))?;
    let size = u64::try_from(message.bodyLength())
        .map_err(|_| invalid("a message has a negative length"))?;
    if size > limit {
        return Err(too_large(format!(
            "a message has {size} bytes, more than the {limit} that one may take"
        )));
    }
    let body = from.take(size as usize)?;
    if body.len() as u64 != size {
        return Err(cut());
    }
    Ok(Some(Raw { head, body }))
}

impl IpcStream {
    pub fn open(mut from: Box<dyn Messages>) -> Outcome<Self> {
        let limit = MOST_HEAD_BYTES;
        let raw =
            next_message(from.as_mut(), limit)?.ok_or_else(|| invalid("the stream is empty"))?;
        let message =
            arrow_ipc::root_as_message(&raw.head).map_err(|_| invalid("its schema is damaged"))?;
        let flat = message
            .header_as_schema()
            .ok_or_else(|| invalid("the stream does not begin with its columns"))?;
        Ok(IpcStream {
            from,
            schema: Arc::new(try_fb_to_schema(flat)?),
            values: HashMap::new(),
            columns: None,
            limit,
            n_batches: 0,
            since: HashMap::new(),
            held: 0,
        })
    }

    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Chooses columns, and what a message or one of its buffers may take.
    pub fn choose(&mut self, columns: Vec<usize>, limit: u64) {
        self.columns = Some(columns);
        self.limit = limit;
    }

    // All batches are held until the last one. If each is followed by one more value for a dictionary, they hold as many
    // dictionaries as there are batches, each of them whole.
    fn count_replaced(&mut self, id: i64) -> Outcome<()> {
        if let (Some(values), Some(since)) = (self.values.get(&id), self.since.get(&id)) {
            if *since < self.n_batches {
                self.held += values.get_array_memory_size() as u64;
            }
        }
        if self.held > self.limit {
            return Err(too_large(format!(
                "its batches hold dictionaries of {} bytes, more than the {} that they may take",
                self.held, self.limit
            )));
        }
        self.since.insert(id, self.n_batches);
        Ok(())
    }

    fn next_batch(&mut self) -> Outcome<Option<RecordBatch>> {
        while let Some(raw) = next_message(self.from.as_mut(), self.limit)? {
            let message = arrow_ipc::root_as_message(&raw.head)
                .map_err(|_| invalid("a message is damaged"))?;
            check_body(&message, &raw.body, self.limit)?;
            let version = message.version();
            match message.header_type() {
                MessageHeader::DictionaryBatch => {
                    let batch = message
                        .header_as_dictionary_batch()
                        .ok_or_else(|| invalid("a message is damaged"))?;
                    self.count_replaced(batch.id())?;
                    read_dictionary(&raw.body, batch, &self.schema, &mut self.values, &version)?;
                }
                MessageHeader::RecordBatch => {
                    let batch = message
                        .header_as_record_batch()
                        .ok_or_else(|| invalid("a message is damaged"))?;
                    self.n_batches += 1;
                    let schema = self.schema.clone();
                    let n_columns = schema.fields().len();
                    let read = |projection: Option<&[usize]>| {
                        Ok(read_record_batch(
                            &raw.body,
                            batch,
                            schema.clone(),
                            &self.values,
                            projection,
                            &version,
                        )?)
                    };
                    return Ok(Some(match &self.columns {
                        Some(columns) => chosen_columns(columns, n_columns, read)?,
                        None => read(None)?,
                    }));
                }
                _ => return Err(invalid("the columns are declared twice")),
            }
        }
        Ok(None)
    }
}

impl Iterator for IpcStream {
    type Item = Outcome<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
