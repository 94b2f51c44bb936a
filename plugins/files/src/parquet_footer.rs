//! What a Parquet footer says that its reader does not check. The layout is FileMetaData of parquet.thrift.

use crate::border::{invalid, Outcome};
use crate::thrift::Reader;

/// The reader follows nested columns by recursion: 160 kB of them would end the process.
const DEEPEST_COLUMNS: usize = 64;
const SCHEMA: i64 = 2;
const N_CHILDREN: i64 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

fn footer_of(file: &[u8]) -> Option<Reader<'_>> {
    let tail = file.len().checked_sub(8)?;
    let length: [u8; 4] = file[tail..tail + 4].try_into().ok()?;
    let at = tail.checked_sub(u32::from_le_bytes(length) as usize)?;
    let bytes = &file[..tail];
    Some(Reader { bytes, at })
}

/// Whether the footer has this field. A footer that is damaged before has not.
pub fn footer_has(file: &[u8], wanted: i64) -> bool {
    let mut found = false;
    if let Some(mut footer) = footer_of(file) {
        let _ = footer.fields(0, &mut |reader, number, kind| {
            found |= number == wanted;
            reader.skip(kind, 1)
        });
    }
    found
}

/// Refuses columns that are nested more deeply than the reader should follow.
pub fn check_nesting(file: &[u8]) -> Outcome<()> {
    let Some(mut footer) = footer_of(file) else {
        return Err(invalid("the list of its columns is longer than the file"));
    };
    footer.fields(0, &mut |reader, number, kind| match (number, kind) {
        (SCHEMA, LIST) => check_schema(reader),
        _ => reader.skip(kind, 1),
    })
}

// Elements come in depth-first order; a group says how many of those after it are its children.
fn check_schema(reader: &mut Reader<'_>) -> Outcome<()> {
    let (n_elements, kind) = reader.list()?;
    let mut left: Vec<i64> = Vec::new(); // children that are still to come, of each group around an element
    for _ in 0..n_elements {
        let mut n_children = 0;
        if kind != STRUCT {
            return Err(invalid("the list of its columns is damaged"));
        }
        reader.fields(2, &mut |reader, number, kind| {
            if (number, kind) == (N_CHILDREN, 5) {
                n_children = reader.integer()?;
                return Ok(());
            }
            reader.skip(kind, 3)
        })?;
        while left.last() == Some(&0) {
            left.pop();
        }
        if let Some(group) = left.last_mut() {
            *group -= 1;
        }
        if n_children > 0 {
            left.push(n_children);
        }
        if left.len() > DEEPEST_COLUMNS {
            return Err(invalid(format!(
                "its columns are nested more than {DEEPEST_COLUMNS} levels deep"
            )));
        }
    }
    Ok(())
}
