//! Parquet files: their columns, and the rows of chosen columns and row groups. Readers of several row groups may run
//! side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::ProjectionMask;
use parquet::basic::Type as Physical;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetStatisticsPolicy};

use crate::border::{caught, invalid, unsupported, Facts, Outcome, Trouble};
use crate::parquet_footer::{check_nesting, footer_has};
use crate::parquet_pages::{pages_of, Pages};

/// A file that holds more rows than this for each of its bytes is made to look large: 64 million rows of one value take
/// 500 bytes.
const MOST_ROWS_PER_BYTE: u64 = 1 << 17;
/// What a batch of strings that are pieces of each other may take.
const DELTA_BATCH: u64 = 256 << 20;

pub struct ParquetFile {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
    /// Leaves of the columns: the places of a row group's chunks.
    leaves: Vec<Vec<usize>>,
    /// The largest delta page of the chosen columns.
    delta: BTreeMap<usize, u64>,
    /// What one page may take.
    limit: u64,
}

fn options() -> ArrowReaderOptions {
    ArrowReaderOptions::new()
        .with_page_index_policy(PageIndexPolicy::Skip)
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
}

const NOT_PARQUET: &str = "is not a Parquet file: it does not begin with PAR1";
const TOO_SHORT: &str = "is too short for a Parquet file, or was cut off";

fn check_frame(bytes: &[u8]) -> Outcome<()> {
    if bytes.len() < 12 {
        return Err(invalid(
            if b"PAR1".starts_with(&bytes[..bytes.len().min(4)]) {
                TOO_SHORT
            } else {
                NOT_PARQUET
            },
        ));
    }
    let (head, tail) = (&bytes[..4], &bytes[bytes.len() - 4..]);
    if head == b"PARE" || tail == b"PARE" {
        return Err(unsupported(
            "is an encrypted Parquet file, and no key can be given: decrypt it where it was made",
        ));
    }
    if head != b"PAR1" {
        return Err(invalid(NOT_PARQUET));
    }
    if tail != b"PAR1" {
        return Err(invalid(
            "is not a whole Parquet file: its end, where its columns are listed, is missing",
        ));
    }
    Ok(())
}

impl ParquetFile {
    pub fn open(bytes: Bytes) -> Outcome<Self> {
        check_frame(&bytes)?;
        check_nesting(&bytes)?;
        let metadata = ArrowReaderMetadata::load(&bytes, options())
            .map_err(|error| why(&bytes, error.into()))?;
        let facts = metadata.metadata();
        let declared = facts.file_metadata().num_rows();
        let mut n_rows = 0_i64;
        for group in facts.row_groups() {
            n_rows = Some(group.num_rows())
                .filter(|rows| *rows >= 0)
                .and_then(|rows| n_rows.checked_add(rows))
                .ok_or_else(|| invalid("a row group has an impossible number of rows"))?;
        }
        if n_rows != declared {
            return Err(invalid(format!(
                "declares {declared} rows, its row groups {n_rows}"
            )));
        }
        if n_rows as u64 / MOST_ROWS_PER_BYTE > bytes.len() as u64 {
            return Err(invalid(format!(
                "declares {n_rows} rows in {} bytes, which cannot hold them",
                bytes.len()
            )));
        }
        let leaves = leaves_of(&metadata);
        Ok(ParquetFile {
            bytes,
            metadata,
            leaves,
            delta: BTreeMap::new(),
            limit: u64::MAX,
        })
    }

    pub fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    fn facts(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    pub fn n_groups(&self) -> usize {
        self.facts().num_row_groups()
    }

    pub fn rows_of(&self, group: usize) -> i64 {
        self.facts().row_group(group).num_rows()
    }

    /// Walks over the pages of the chosen columns, and decides what their values come as.
    pub fn prepare(&mut self, columns: &[usize], limit: u64) -> Outcome<Facts> {
        self.limit = limit;
        let mut fields: Vec<FieldRef> = self.metadata.schema().fields().iter().cloned().collect();
        let mut facts = Facts {
            held_bytes: 0,
            largest_page: 0,
            whole_batch: 0,
            padding: 0,
        };
        for &column in columns {
            let field = fields
                .get(column)
                .cloned()
                .ok_or_else(|| invalid("a column that it does not have"))?;
            let pages = self.pages(column, field.name(), limit)?;
            let largest = i64::try_from(pages.largest.max(pages.dictionary)).unwrap_or(i64::MAX);
            facts.largest_page = facts.largest_page.max(largest);
            let held =
                i64::try_from(pages.largest.saturating_add(pages.dictionary)).unwrap_or(i64::MAX);
            facts.held_bytes = facts.held_bytes.max(held.saturating_mul(2));
            if pages.largest_delta > 0 {
                self.delta.insert(column, pages.largest_delta);
            }
            let leaf = self.leaves[column].first();
            let physical =
                leaf.map(|leaf| self.metadata.parquet_schema().column(*leaf).physical_type());
            let indices = pages.n_indices > pages.n_values / 2;
            let kind = read_as(field.data_type(), physical, indices)
                .unwrap_or_else(|| field.data_type().clone());
            // The core has read the metadata from the schema. It may list many values, which no batch need repeat.
            fields[column] = Arc::new(Field::new(field.name(), kind, field.is_nullable()));
        }
        let hint = Arc::new(Schema::new_with_metadata(
            fields,
            self.metadata.schema().metadata().clone(),
        ));
        self.metadata =
            ArrowReaderMetadata::try_new(self.facts().clone(), options().with_schema(hint))?;
        Ok(facts)
    }

    fn pages(&self, column: usize, name: &str, limit: u64) -> Outcome<Pages> {
        let mut all = Pages::default();
        for (number, group) in self.facts().row_groups().iter().enumerate() {
            let about = |trouble: Trouble| Trouble {
                code: trouble.code,
                text: format!(
                    "column '{name}', row group {}: {}",
                    number + 1,
                    trouble.text
                ),
            };
            for &leaf in &self.leaves[column] {
                let chunk = group
                    .columns()
                    .get(leaf)
                    .ok_or_else(|| about(invalid("it is missing")))?;
                if chunk.file_path().is_some_and(|path| !path.is_empty()) {
                    return Err(about(unsupported("its values are in another file")));
                }
                if chunk.num_values() != group.num_rows() {
                    return Err(about(invalid(format!(
                        "{} values in a row group of {} rows",
                        chunk.num_values(),
                        group.num_rows()
                    ))));
                }
                all.join(
                    &caught(|| pages_of(&self.bytes, chunk, limit))
                        .map_err(|trouble| about(why(&self.bytes, trouble)))?,
                );
            }
        }
        Ok(all)
    }

    /// A reader of these columns in these row groups.
    pub fn read(
        &self,
        groups: std::ops::Range<usize>,
        columns: &[usize],
        batch_rows: usize,
    ) -> Outcome<ParquetRecordBatchReader> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        let delta = columns
            .iter()
            .filter_map(|column| self.delta.get(column))
            .max()
            .copied()
            .unwrap_or(0);
        let rows = DELTA_BATCH
            .min(self.limit)
            .checked_div(delta)
            .map_or(batch_rows, |most| batch_rows.min(most.max(1) as usize));
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.bytes.clone(),
            self.metadata.clone(),
        )
        .with_row_groups(groups.collect())
        .with_projection(mask)
        .with_batch_size(rows)
        .build()?;
        Ok(reader)
    }

    /// The fields of these columns, as `read` gives them.
    pub fn fields(&self, columns: &[usize]) -> Outcome<SchemaRef> {
        self.metadata
            .schema()
            .project(columns)
            .map(Arc::new)
            .map_err(Trouble::from)
    }
}

// FileMetaData of parquet.thrift names the cipher in this field. Its columns look damaged to a reader without a key.
const ENCRYPTION: i64 = 8;

fn why(bytes: &[u8], trouble: Trouble) -> Trouble {
    if footer_has(bytes, ENCRYPTION) {
        return unsupported(
            "has encrypted columns, and no key can be given: decrypt it where it was made",
        );
    }
    trouble
}

fn leaves_of(metadata: &ArrowReaderMetadata) -> Vec<Vec<usize>> {
    let descriptor = metadata.parquet_schema();
    let mut leaves = vec![Vec::new(); descriptor.root_schema().get_fields().len()];
    for leaf in 0..descriptor.num_columns() {
        leaves[descriptor.get_column_root_idx(leaf)].push(leaf);
    }
    leaves
}

/// What a column is read as, where that is not what the file says. Strings are read as dictionaries where the file has
/// them so, and else as views: a row that repeats a text of 1 MB takes 16 bytes. Instants of 96 bits become
/// microseconds, since nanoseconds end in the year 2262.
fn read_as(declared: &DataType, physical: Option<Physical>, indices: bool) -> Option<DataType> {
    let dictionary = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    match declared {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(if indices {
            dictionary()
        } else {
            DataType::Utf8View
        }),
        DataType::Dictionary(_, values)
            if matches!(
                values.as_ref(),
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
            ) =>
        {
            Some(dictionary())
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) if physical == Some(Physical::INT96) => {
            Some(DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))
        }
        _ => None,
    }
}
