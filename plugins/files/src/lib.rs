//! stope's plug-in for files: Parquet and Arrow IPC, read and written by the arrow-rs crates, behind a C border
//! (src/io/files_abi.h) that rows cross by the Arrow C interfaces.

mod batches;
mod border;
mod ipc_check;
mod ipc_file;
mod ipc_stream;
mod lying_pages;
mod memory;
mod ods;
mod parquet_file;
mod parquet_footer;
mod parquet_pages;
mod sheet;
mod sheet_text;
mod thrift;
mod write;

use std::sync::{Arc, Mutex, Once, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::SchemaRef;

use border::{
    guarded, invalid, unsupported, Facts, Failure, Functions, Outcome, RawBytes, Sink, Source,
    WriteOptions,
};
use ipc_file::IpcFile;
use ipc_stream::{InMemory, IpcStream, Messages, Piped};
use memory::Lent;
use parquet_file::ParquetFile;

/// An open file of either format. Streams of its rows share it.
pub enum File {
    Parquet(Box<ParquetFile>),
    Arrow(Arc<IpcFile>),
    Stream(Box<OpenStream>),
}

/// A stream and its columns. Whoever reads it takes it out.
pub struct OpenStream {
    schema: SchemaRef,
    stream: Mutex<Option<IpcStream>>,
}

impl OpenStream {
    fn open(from: Box<dyn Messages>) -> Outcome<File> {
        let stream = IpcStream::open(from)?;
        Ok(File::Stream(Box::new(OpenStream {
            schema: stream.schema(),
            stream: Mutex::new(Some(stream)),
        })))
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<IpcStream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub type Writer = write::TableWriter;

// SAFETY of all entries: the core keeps to src/io/files_abi.h. Pointers are its own structures, or null where a check
// says so.

unsafe extern "C" fn open(
    format: i32,
    bytes: RawBytes,
    to: *mut *mut File,
    failure: *mut Failure,
) -> i32 {
    let lent = Lent::new(bytes);
    guarded(failure, || {
        let file = match format {
            border::PARQUET => File::Parquet(Box::new(ParquetFile::open(memory::as_bytes(lent))?)),
            border::ARROW => File::Arrow(Arc::new(IpcFile::open(memory::as_buffer(lent))?)),
            border::ARROW_STREAM => OpenStream::open(Box::new(InMemory {
                buffer: memory::as_buffer(lent),
                at: 0,
            }))?,
            _ => return Err(unsupported("the plug-in does not read this format")),
        };
        *to = Box::into_raw(Box::new(file));
        Ok(())
    })
}

unsafe extern "C" fn open_source(source: Source, to: *mut *mut File, failure: *mut Failure) -> i32 {
    guarded(failure, || {
        *to = Box::into_raw(Box::new(OpenStream::open(Box::new(Piped(source)))?));
        Ok(())
    })
}

unsafe extern "C" fn close(file: *mut File) {
    if !file.is_null() {
        let _ = border::caught(|| {
            drop(Box::from_raw(file));
            Ok(())
        });
    }
}

unsafe extern "C" fn schema(
    file: *const File,
    to: *mut FFI_ArrowSchema,
    failure: *mut Failure,
) -> i32 {
    guarded(failure, || {
        let schema: SchemaRef = match &*file {
            File::Parquet(file) => file.schema(),
            File::Arrow(file) => file.schema(),
            File::Stream(file) => file.schema.clone(),
        };
        let exported = FFI_ArrowSchema::try_from(schema.as_ref())?;
        std::ptr::write(to, exported);
        Ok(())
    })
}

unsafe extern "C" fn n_groups(file: *const File) -> i64 {
    match &*file {
        File::Parquet(file) => file.n_groups() as i64,
        File::Arrow(file) => file.n_groups() as i64,
        File::Stream(_) => -1,
    }
}

unsafe extern "C" fn rows_of(file: *const File, group: i64) -> i64 {
    match &*file {
        File::Parquet(file) => file.rows_of(group as usize),
        File::Arrow(file) => file.rows_of(group as usize),
        File::Stream(_) => -1,
    }
}

unsafe fn chosen(columns: *const i64, n_columns: i64) -> Vec<usize> {
    if n_columns <= 0 {
        return Vec::new();
    }
    std::slice::from_raw_parts(columns, n_columns as usize)
        .iter()
        .map(|column| *column as usize)
        .collect()
}

unsafe extern "C" fn prepare(
    file: *mut File,
    columns: *const i64,
    n_columns: i64,
    limit: i64,
    facts: *mut Facts,
    failure: *mut Failure,
) -> i32 {
    guarded(failure, || {
        let columns = chosen(columns, n_columns);
        let limit = u64::try_from(limit).unwrap_or(0);
        *facts = match &mut *file {
            File::Parquet(file) => file.prepare(&columns, limit)?,
            File::Arrow(file) => Arc::get_mut(file)
                .ok_or_else(|| invalid("it is being read already"))?
                .prepare(&columns, limit)?,
            File::Stream(file) => {
                if let Some(stream) = file.held().as_mut() {
                    stream.choose(columns, limit);
                }
                Facts {
                    held_bytes: 0,
                    largest_page: 0,
                    whole_batch: 0,
                    padding: 0,
                }
            }
        };
        Ok(())
    })
}

unsafe extern "C" fn read(
    file: *const File,
    first_group: i64,
    n_groups: i64,
    columns: *const i64,
    n_columns: i64,
    batch_rows: i64,
    to: *mut FFI_ArrowArrayStream,
    failure: *mut Failure,
) -> i32 {
    guarded(failure, || {
        let columns = chosen(columns, n_columns);
        let groups = first_group.max(0) as usize..(first_group + n_groups).max(0) as usize;
        match &*file {
            File::Parquet(file) => {
                let reader = file.read(groups, &columns, batch_rows as usize)?;
                let schema = file.fields(&columns)?;
                batches::give(
                    reader.map(|batch| batch.map_err(border::Trouble::from)),
                    schema,
                    to,
                );
            }
            File::Arrow(file) => {
                let schema = Arc::new(file.schema().project(&columns)?);
                let file = file.clone();
                batches::give(
                    groups.map(move |group| file.batch(group, &columns)),
                    schema,
                    to,
                );
            }
            File::Stream(file) => {
                let stream = file
                    .held()
                    .take()
                    .ok_or_else(|| invalid("the stream has been read"))?;
                let schema = Arc::new(file.schema.project(&columns)?);
                batches::give(stream, schema, to);
            }
        }
        Ok(())
    })
}

unsafe extern "C" fn create(
    format: i32,
    schema: *mut FFI_ArrowSchema,
    options: *const WriteOptions,
    sink: Sink,
    to: *mut *mut Writer,
    failure: *mut Failure,
) -> i32 {
    let schema = FFI_ArrowSchema::from_raw(schema);
    guarded(failure, || {
        let writer = Writer::create(format, &schema, &*options, sink)?;
        *to = Box::into_raw(Box::new(writer));
        Ok(())
    })
}

unsafe extern "C" fn append(
    writer: *mut Writer,
    batch: *mut FFI_ArrowArray,
    failure: *mut Failure,
) -> i32 {
    let batch = FFI_ArrowArray::from_raw(batch);
    guarded(failure, || (*writer).append(batch))
}

unsafe extern "C" fn finish(writer: *mut Writer, failure: *mut Failure) -> i32 {
    guarded(failure, || (*writer).finish())
}

unsafe extern "C" fn drop_writer(writer: *mut Writer) {
    if !writer.is_null() {
        let _ = border::caught(|| {
            drop(Box::from_raw(writer));
            Ok(())
        });
    }
}

// The text of a sheet, or the names of all, as one row of one column.
unsafe extern "C" fn read_sheet(
    bytes: RawBytes,
    options: *const std::ffi::c_char,
    limit: i64,
    to: *mut FFI_ArrowArrayStream,
    failure: *mut Failure,
) -> i32 {
    let lent = Arc::new(Lent::new(bytes));
    guarded(failure, || {
        let options = std::ffi::CStr::from_ptr(options);
        let options = options
            .to_str()
            .map_err(|_| invalid("the name of the sheet is not UTF-8"))?;
        let wanted = sheet::Wanted::parse(options)?;
        let text = sheet::text_of(
            sheet::Shared(lent),
            &wanted,
            u64::try_from(limit).unwrap_or(0),
        )?;
        let (batch, schema) = sheet::batch_of(text)?;
        batches::give(std::iter::once(Ok(batch)), schema, to);
        Ok(())
    })
}

static FUNCTIONS: Functions = Functions {
    version: border::VERSION,
    bytes: std::mem::size_of::<Functions>() as u32,
    formats: c"Parquet, Arrow, XLSX, ODS".as_ptr(),
    parts: c"parquet and arrow-ipc 60.1, calamine 0.38".as_ptr(),
    open,
    open_source,
    close,
    schema,
    n_groups,
    rows_of,
    prepare,
    read,
    create,
    append,
    finish,
    drop: drop_writer,
    read_sheet: Some(read_sheet),
};

/// The one symbol of the plug-in.
#[no_mangle]
pub extern "C" fn stope_files() -> *const Functions {
    static QUIET: Once = Once::new();
    // A panic is told as a failure. The hook is that of this library alone, whose std is its own.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    &FUNCTIONS
}
