//! Pages that become more than their header declares. The readers of gzip and brotli unpack until the input ends,
//! whatever is declared, so that 700 bytes may take all memory. Such a page is unpacked here first, piece by piece.

use std::io::Read;

use parquet::basic::Compression;

use crate::border::{invalid, Outcome};

const BLOCK: usize = 1 << 16;
/// Deflate makes at most so many bytes of one. Brotli knows no bound.
const MOST_OF_DEFLATE: u64 = 1032;
/// The part of `limit` that a lie may take: a page that cannot take more is unpacked once only, by its reader.
const LIMIT_SHARE: u64 = 4;

/// Refuses packed bytes that become more than declared. `limit` is what one page may become.
pub fn check_unpacked(codec: Compression, packed: &[u8], declared: u64, limit: u64) -> Outcome<()> {
    let most = (packed.len() as u64).saturating_mul(MOST_OF_DEFLATE);
    match codec {
        Compression::GZIP(_) if most > declared.saturating_add(limit / LIMIT_SHARE) => {
            check(flate2::read::MultiGzDecoder::new(packed), packed, declared)
        }
        Compression::BROTLI(_) => check(brotli::Decompressor::new(packed, BLOCK), packed, declared),
        _ => Ok(()),
    }
}

// What is wrong with the bytes otherwise, their reader says later.
fn check(mut unpacked: impl Read, packed: &[u8], declared: u64) -> Outcome<()> {
    let mut block = [0_u8; BLOCK];
    let mut n = 0;
    while let Ok(got @ 1..) = unpacked.read(&mut block) {
        n += got as u64;
        if n > declared {
            return Err(invalid(format!(
                "a page says that it becomes {declared} bytes, and its {} bytes become more",
                packed.len()
            )));
        }
    }
    Ok(())
}
