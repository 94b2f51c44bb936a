//! The core's bytes as the readers take them: shared, and given back when the last array that lies in them has gone.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_buffer::Buffer;
use bytes::Bytes;

use crate::border::RawBytes;

/// Memory of the core. Dropping it gives it back.
pub struct Lent {
    data: *const u8,
    size: usize,
    owner: *mut c_void,
    release: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: the core promises memory that nobody writes to, and a release that may come from any thread.
unsafe impl Send for Lent {}
unsafe impl Sync for Lent {}

impl Lent {
    pub fn new(raw: RawBytes) -> Self {
        Lent {
            data: raw.data,
            size: usize::try_from(raw.size).unwrap_or(0),
            owner: raw.owner,
            release: raw.release,
        }
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: the core lends `size` bytes from `data` on until `release` is called.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            // SAFETY: called once, with the owner that came with it.
            unsafe { release(self.owner) }
        }
    }
}

pub fn as_bytes(lent: Lent) -> Bytes {
    Bytes::from_owner(lent)
}

pub fn as_buffer(lent: Lent) -> Buffer {
    let size = lent.size;
    match NonNull::new(lent.data.cast_mut()) {
        // SAFETY: the owner keeps these bytes as long as the buffer lives.
        Some(data) if size > 0 => unsafe {
            Buffer::from_custom_allocation(data, size, Arc::new(lent))
        },
        _ => Buffer::from_vec(Vec::<u8>::new()),
    }
}
