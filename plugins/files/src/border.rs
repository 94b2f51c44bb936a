//! The border to the core, as src/io/files_abi.h has it. Every entry runs under `guarded`: a panic of a reader becomes
//! a failure, since nothing may unwind into C++.

use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

pub const VERSION: u32 = 1;

pub const OK: i32 = 0;
pub const INVALID: i32 = 1;
pub const UNSUPPORTED: i32 = 2;
pub const MEMORY: i32 = 3;
pub const STOPPED: i32 = 4;

pub const PARQUET: i32 = 1;
pub const ARROW: i32 = 2;
pub const ARROW_STREAM: i32 = 3;

/// Why a function failed: a code, and a sentence without the file's name.
#[derive(Debug)]
pub struct Trouble {
    pub code: i32,
    pub text: String,
}

pub type Outcome<T> = Result<T, Trouble>;

pub fn invalid(text: impl Into<String>) -> Trouble {
    Trouble {
        code: INVALID,
        text: text.into(),
    }
}

pub fn unsupported(text: impl Into<String>) -> Trouble {
    Trouble {
        code: UNSUPPORTED,
        text: text.into(),
    }
}

pub fn too_large(text: impl Into<String>) -> Trouble {
    Trouble {
        code: MEMORY,
        text: text.into(),
    }
}

/// What a reader says of bytes that it cannot make sense of, without the names of its kinds of errors.
pub fn damaged(said: &str) -> Trouble {
    const KINDS: [&str; 5] = [
        "Parquet argument error: ",
        "Invalid argument error: ",
        "Parser error: ",
        "Parquet error: ",
        "External: ",
    ];
    let text = KINDS
        .iter()
        .fold(said, |text, kind| text.strip_prefix(kind).unwrap_or(text));
    invalid(format!("its content is damaged: {text}"))
}

impl From<ParquetError> for Trouble {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::NYI(text) => unsupported(text),
            ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                Ok(io) => Trouble::from(*io),
                Err(other) => damaged(&other.to_string()),
            },
            ParquetError::General(text)
            | ParquetError::EOF(text)
            | ParquetError::ArrowError(text) => damaged(&text),
            other => damaged(&other.to_string()),
        }
    }
}

impl From<ArrowError> for Trouble {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::NotYetImplemented(text) => unsupported(text),
            ArrowError::MemoryError(text) => too_large(text),
            ArrowError::IoError(text, io) => {
                if io.kind() == std::io::ErrorKind::Interrupted {
                    Trouble::from(io)
                } else {
                    damaged(&text)
                }
            }
            other => damaged(&other.to_string()),
        }
    }
}

/// Errors of the core's callbacks. `Interrupted` would be tried again by std, so they are `Other` with this text.
pub const STOP: &str = "stopped by the core";

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        let text = error.to_string();
        let code = if text == STOP { STOPPED } else { INVALID };
        Trouble { code, text }
    }
}

#[repr(C)]
pub struct Failure {
    pub code: i32,
    pub text: [u8; 508],
}

impl Failure {
    fn set(&mut self, trouble: &Trouble) {
        self.code = trouble.code;
        let text: String = trouble
            .text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let mut end = text.len().min(self.text.len() - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.text[..end].copy_from_slice(&text.as_bytes()[..end]);
        self.text[end] = 0;
    }
}

fn said_by(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    panic
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| "the reader does not say why".to_string())
}

/// Runs work whose panics are troubles of the data: what a reader asserts, a damaged file breaks.
pub fn caught<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome,
        Err(panic) => {
            let text = said_by(panic.as_ref());
            // A panic's value may panic in turn when it is dropped.
            std::mem::forget(panic);
            Err(damaged(&text))
        }
    }
}

/// What an entry returns: 0, or the code of the failure that it has filled.
pub fn guarded(failure: *mut Failure, work: impl FnOnce() -> Outcome<()>) -> i32 {
    match caught(work) {
        Ok(()) => OK,
        Err(trouble) => {
            // SAFETY: the core hands in null or its own structure.
            if let Some(failure) = unsafe { failure.as_mut() } {
                failure.set(&trouble);
            }
            trouble.code
        }
    }
}

#[repr(C)]
pub struct RawBytes {
    pub data: *const u8,
    pub size: u64,
    pub owner: *mut c_void,
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
}

#[repr(C)]
pub struct Source {
    pub context: *mut c_void,
    pub read: Option<unsafe extern "C" fn(*mut c_void, *mut u8, i64) -> i64>,
}

#[repr(C)]
pub struct Sink {
    pub context: *mut c_void,
    pub write: Option<unsafe extern "C" fn(*mut c_void, *const u8, u64) -> i32>,
}

#[repr(C)]
pub struct Facts {
    pub held_bytes: i64,
    pub largest_page: i64,
    pub whole_batch: i32,
    pub padding: i32,
}

#[repr(C)]
pub struct WriteOptions {
    pub group_rows: i64,
}

pub type ReadSheet = unsafe extern "C" fn(
    RawBytes,
    *const std::ffi::c_char,
    i64,
    *mut FFI_ArrowArrayStream,
    *mut Failure,
) -> i32;

#[repr(C)]
pub struct Functions {
    pub version: u32,
    pub bytes: u32,
    pub formats: *const std::ffi::c_char,
    pub parts: *const std::ffi::c_char,
    pub open: unsafe extern "C" fn(i32, RawBytes, *mut *mut crate::File, *mut Failure) -> i32,
    pub open_source: unsafe extern "C" fn(Source, *mut *mut crate::File, *mut Failure) -> i32,
    pub close: unsafe extern "C" fn(*mut crate::File),
    pub schema: unsafe extern "C" fn(*const crate::File, *mut FFI_ArrowSchema, *mut Failure) -> i32,
    pub n_groups: unsafe extern "C" fn(*const crate::File) -> i64,
    pub rows_of: unsafe extern "C" fn(*const crate::File, i64) -> i64,
    pub prepare: unsafe extern "C" fn(
        *mut crate::File,
        *const i64,
        i64,
        i64,
        *mut Facts,
        *mut Failure,
    ) -> i32,
    pub read: unsafe extern "C" fn(
        *const crate::File,
        i64,
        i64,
        *const i64,
        i64,
        i64,
        *mut FFI_ArrowArrayStream,
        *mut Failure,
    ) -> i32,
    pub create: unsafe extern "C" fn(
        i32,
        *mut FFI_ArrowSchema,
        *const WriteOptions,
        Sink,
        *mut *mut crate::Writer,
        *mut Failure,
    ) -> i32,
    pub append: unsafe extern "C" fn(*mut crate::Writer, *mut FFI_ArrowArray, *mut Failure) -> i32,
    pub finish: unsafe extern "C" fn(*mut crate::Writer, *mut Failure) -> i32,
    pub drop: unsafe extern "C" fn(*mut crate::Writer),
    pub read_sheet: Option<ReadSheet>,
}

// SAFETY: the table is constant, and its pointers name constants.
unsafe impl Sync for Functions {}
