//! Batches for the Arrow C stream interface. A panic of the reader becomes an error of the stream.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use crate::border::{caught, Outcome};

/// A reader whose panics are errors. After an error it gives nothing more.
struct Guarded<I> {
    batches: Option<I>,
    schema: SchemaRef,
}

impl<I: Iterator<Item = Outcome<RecordBatch>>> Iterator for Guarded<I> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batches = self.batches.as_mut()?;
        match caught(|| batches.next().transpose()) {
            Ok(Some(batch)) => Some(Ok(batch)),
            Ok(None) => {
                self.batches = None;
                None
            }
            Err(trouble) => {
                self.batches = None;
                // The code travels in front of the text: a stream has no place for it.
                Some(Err(ArrowError::ExternalError(
                    format!("{}|{}", trouble.code, trouble.text).into(),
                )))
            }
        }
    }
}

impl<I: Iterator<Item = Outcome<RecordBatch>>> RecordBatchReader for Guarded<I> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Gives batches away through a stream that the caller releases.
pub fn give<I>(batches: I, schema: SchemaRef, to: *mut FFI_ArrowArrayStream)
where
    I: Iterator<Item = Outcome<RecordBatch>> + Send + 'static,
{
    let stream = FFI_ArrowArrayStream::new(Box::new(Guarded {
        batches: Some(batches),
        schema,
    }));
    // SAFETY: `to` is the core's structure, which holds nothing yet.
    unsafe { std::ptr::write(to, stream) }
}
