//! Parquet and Arrow IPC written batch by batch, through a callback that appends bytes.

use std::io::Write;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StructArray};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::border::{
    invalid, unsupported, Outcome, Sink, WriteOptions, ARROW, ARROW_STREAM, PARQUET, STOP,
};

/// The core's callback as a writer of bytes.
pub struct Output(Sink);

// SAFETY: a writer is used by one thread at a time, and so is its callback.
unsafe impl Send for Output {}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let write = self.0.write.ok_or_else(|| std::io::Error::other(STOP))?;
        // SAFETY: the bytes live as long as the call.
        if unsafe { write(self.0.context, bytes.as_ptr(), bytes.len() as u64) } != 0 {
            return Err(std::io::Error::other(STOP));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

enum Kind {
    Parquet(Box<ArrowWriter<Output>>),
    File(FileWriter<Output>),
    Stream(StreamWriter<Output>),
}

pub struct TableWriter {
    schema: SchemaRef,
    kind: Option<Kind>,
}

// Nominal columns have a dictionary. Numbers have none: measured values hardly repeat, and a reader that copies plain
// values is the quicker one.
fn properties(schema: &Schema, options: &WriteOptions) -> Outcome<WriterProperties> {
    let level = ZstdLevel::try_new(1)?;
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by("stope".to_string())
        .set_max_row_group_row_count(
            usize::try_from(options.group_rows)
                .ok()
                .filter(|rows| *rows > 0),
        );
    for field in schema.fields() {
        if matches!(field.data_type(), DataType::Dictionary(_, _)) {
            let path = ColumnPath::new(vec![field.name().clone()]);
            builder = builder.set_column_dictionary_enabled(path, true);
        }
    }
    Ok(builder.build())
}

// A missing value's code is -1 in the core. Nobody may look at it below a null, but polars does: 0 is safe.
fn readable(column: &ArrayRef) -> ArrayRef {
    let Some(codes) = column.as_any().downcast_ref::<DictionaryArray<Int32Type>>() else {
        return column.clone();
    };
    let keys = codes.keys();
    if keys.null_count() == 0 {
        return column.clone();
    }
    let filled: Vec<i32> = keys.values().iter().map(|code| (*code).max(0)).collect();
    let keys = Int32Array::new(filled.into(), keys.nulls().cloned());
    match DictionaryArray::try_new(keys, codes.values().clone()) {
        Ok(array) => Arc::new(array),
        Err(_) => column.clone(),
    }
}

impl TableWriter {
    pub fn create(
        format: i32,
        schema: &FFI_ArrowSchema,
        options: &WriteOptions,
        sink: Sink,
    ) -> Outcome<Self> {
        let schema: SchemaRef = Arc::new(Schema::try_from(schema)?);
        let output = Output(sink);
        let kind = match format {
            PARQUET => {
                let properties = properties(&schema, options)?;
                Kind::Parquet(Box::new(ArrowWriter::try_new(
                    output,
                    schema.clone(),
                    Some(properties),
                )?))
            }
            ARROW => Kind::File(FileWriter::try_new(output, &schema)?),
            ARROW_STREAM => Kind::Stream(StreamWriter::try_new(output, &schema)?),
            _ => return Err(unsupported("the plug-in does not write this format")),
        };
        Ok(TableWriter {
            schema,
            kind: Some(kind),
        })
    }

    pub fn append(&mut self, batch: FFI_ArrowArray) -> Outcome<()> {
        let kind = DataType::Struct(self.schema.fields().clone());
        // SAFETY: the core gives a batch of the schema that it has given before.
        let data = unsafe { arrow_array::ffi::from_ffi_and_data_type(batch, kind) }?;
        let columns = StructArray::from(data);
        if columns.null_count() > 0 {
            return Err(invalid("a batch has rows that are null as a whole"));
        }
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(columns.len()));
        let plain = !matches!(self.kind, Some(Kind::Parquet(_)));
        let columns: Vec<ArrayRef> = columns
            .columns()
            .iter()
            .map(|column| {
                if plain {
                    readable(column)
                } else {
                    column.clone()
                }
            })
            .collect();
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        match self.kind.as_mut() {
            Some(Kind::Parquet(writer)) => writer.write(&batch)?,
            Some(Kind::File(writer)) => writer.write(&batch)?,
            Some(Kind::Stream(writer)) => writer.write(&batch)?,
            None => return Err(invalid("the file is finished")),
        }
        Ok(())
    }

    pub fn finish(&mut self) -> Outcome<()> {
        match self.kind.take() {
            Some(Kind::Parquet(writer)) => {
                writer.close()?;
            }
            Some(Kind::File(mut writer)) => writer.finish()?,
            Some(Kind::Stream(mut writer)) => writer.finish()?,
            None => return Err(invalid("the file is finished")),
        }
        Ok(())
    }
}
