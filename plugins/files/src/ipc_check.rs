//! What a message of Arrow IPC declares, compared with the bytes that are there before the reader reserves anything.

use arrow_ipc::{BodyCompressionMethod, Message, MessageHeader, RecordBatch};

use crate::border::{invalid, too_large, unsupported, Outcome};

/// What the buffers of a message are like.
#[derive(Default, Clone, Copy)]
pub struct Body {
    pub compressed: bool,
    /// The largest buffer once it is decompressed.
    pub largest: u64,
}

/// The message in these bytes, which begin with its length.
pub fn message_in(bytes: &[u8]) -> Outcome<Message<'_>> {
    let skipped = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let flat = bytes
        .get(skipped..)
        .ok_or_else(|| invalid("a message is cut off"))?;
    arrow_ipc::root_as_message(flat).map_err(|_| invalid("the head of a message is damaged"))
}

/// Checks the buffers of a batch of rows or of a dictionary against its body. `limit` is what one may become.
pub fn check_body(message: &Message<'_>, body: &[u8], limit: u64) -> Outcome<Body> {
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message
            .header_as_dictionary_batch()
            .and_then(|batch| batch.data()),
        MessageHeader::Schema => return Ok(Body::default()),
        _ => return Err(unsupported("has a message that is no table (a tensor)")),
    };
    let batch = batch.ok_or_else(|| invalid("the head of a batch is damaged"))?;
    check_batch(&batch, body, limit)
}

fn check_batch(batch: &RecordBatch<'_>, body: &[u8], limit: u64) -> Outcome<Body> {
    let mut found = Body {
        compressed: false,
        largest: 0,
    };
    if batch.length() < 0 {
        return Err(invalid("a batch has a negative number of rows"));
    }
    if let Some(compression) = batch.compression() {
        if compression.method() != BodyCompressionMethod::BUFFER {
            return Err(unsupported("is compressed in a way that is not known"));
        }
        found.compressed = true;
    }
    for node in batch.nodes().into_iter().flatten() {
        if node.length() < 0 || node.null_count() < 0 || node.null_count() > node.length() {
            return Err(invalid("a column of a batch has an impossible length"));
        }
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let outside = || invalid("a buffer lies outside its batch");
        let begin = usize::try_from(buffer.offset()).map_err(|_| outside())?;
        let size = usize::try_from(buffer.length()).map_err(|_| outside())?;
        let end = begin
            .checked_add(size)
            .filter(|end| *end <= body.len())
            .ok_or_else(outside)?;
        if size == 0 {
            continue;
        }
        let becomes = if found.compressed {
            declared(&body[begin..end])?
        } else {
            size as u64
        };
        if found.compressed && becomes > limit {
            return Err(too_large(format!(
                "a buffer becomes {becomes} bytes, more than the {limit} that it may take"
            )));
        }
        found.largest = found.largest.max(becomes);
    }
    Ok(found)
}

// A compressed buffer begins with its size once it is decompressed; -1 says that it is not compressed.
fn declared(buffer: &[u8]) -> Outcome<u64> {
    let head: [u8; 8] = buffer
        .get(..8)
        .and_then(|head| head.try_into().ok())
        .ok_or_else(|| invalid("a buffer is cut off"))?;
    match i64::from_le_bytes(head) {
        -1 => Ok(buffer.len() as u64 - 8),
        size => u64::try_from(size).map_err(|_| invalid("a buffer has a negative size")),
    }
}
