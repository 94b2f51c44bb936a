// What the CUDA plug-in does for nearest neighbours. It computes the distances of tiles of queries x training rows by
// the reference formula. For a search it returns only those that can still enter a list. device/cuda_abi.hpp says what
// may cross this border.
#pragma once

#include <cstdint>
#include <limits>

#include "device/cuda_abi.hpp"
#include "knn/filter/row_image.hpp"
#include "knn/filter/sum_bounds.hpp"

namespace stope::knn {
struct VoterView;  // knn/vote/rule.hpp
}

namespace stope::knn::cuda_abi {

using stope::cuda_abi::Failure;

/// A fitted measure as it is copied to a device.
struct Measure {
  const char* type;  ///< typeid(M).name(): both sides name a struct of knn/measure/formulas/ by it
  const void* bytes;
  std::int64_t n_bytes;
  const double* storage;  ///< what a member of the measure points to, or null
  std::int64_t n_storage;
  const void* attributes;  ///< knn::Attribute
  std::int64_t n_attributes;
};

/// Sizes of a session, planned by the core (knn/gpu/reference/plan.hpp).
struct Sizes {
  std::int64_t width;         ///< doubles a row
  std::int64_t held_queries;  ///< query rows on the GPU at once
  std::int64_t held_rows;     ///< training rows in a buffer
  std::int64_t n_buffers;     ///< buffers of training rows: 1, or 2 where one is filled while the other is searched
  std::int64_t tile_queries;  ///< the most pairs of a tile; tile_queries * tile_rows < 2^31
  std::int64_t tile_rows;
  std::int64_t scratch_threads;  ///< threads that evaluate a measure with work space at once
  std::int64_t scratch_doubles;  ///< work space of one such thread
  std::int64_t piece_bytes;      ///< bytes of one of the four pinned buffers through which rows are copied
  std::int32_t lent_rows = 0;    ///< not 0: lend_rows brings all training rows, and the session has no room for them
};

/// Queries and training rows of a tile, as indices into those held.
struct Tile {
  std::int64_t buffer;
  std::int64_t first_query, n_queries;
  std::int64_t first_row, n_rows;
};

/// Tiles under way at once: the host looks at one while the GPU works on the next.
inline constexpr int kSlots = 2;

/// Query i of a tile has the tile's rows[j], ascending, for j in [offsets[i], offsets[i] + counts[i]).
struct Survivors {
  const std::int64_t* offsets;
  const std::int32_t* counts;
  const double* distances;
  const std::int32_t* rows;
};

/// Everything one searcher holds on one GPU. One thread at a time may use it. The exception is load_rows: another
/// thread may call it for a buffer that no tile is submitted for meanwhile.
struct Session;

// --- what both filters share ----------------------------------------------------------------------------------------

/// What training rows vote with, in a GPU's memory. It does not change, so that several threads may search with it.
struct VotersOnGpu;

/// Training rows in a GPU's memory, as doubles. They do not change, so that several threads may use them.
struct RowsOnGpu;

struct TensorFilter;
struct DifferenceFilter;

/// Training rows that something else holds on a GPU, in the table's order: one of these is not null. A filter's are
/// those of its one table, which is complete. A search through boxes holds none in that order.
struct LentRows {
  const RowsOnGpu* rows;
  const TensorFilter* tensor;
  const DifferenceFilter* differences;
};

/// Per column of rows on a GPU: the smallest and the largest present value, infinite if there is none, and 1 if one is
/// missing, else 0.
struct ColumnExtremes {
  double* low;
  double* high;
  std::int32_t* missing;
};

/// How much GPU memory a filter takes, and whether it can be used at all.
struct FilterSize {
  bool possible;
  std::int64_t bytes;
};

/// Steps of a search through a filter on the GPU, in their order. An answer says how long each of them took; 0: there
/// was no such step.
enum FilterStep : std::int32_t {
  kUploadStep,  ///< copy of the query rows; the tensor filter does not time it
  kImagesStep,  ///< images of the queries
  kSampleStep,
  kThresholdsStep,
  kListStep,
  kRerankStep,
  kVoteStep,
  kCopyBackStep,
  kTableImagesStep,  ///< images of training rows loaded since the last answer, or boxes; a scan of differences does not
                     ///< time it
  kFilterSteps,
};

/// Query i has distances[i * k + j] and rows[i * k + j], by (distance, row) or as heaps, unless it is uncertified. With
/// a vote the j-th k has winners[j * n + i] and values[(j * n + i) * n_values + v] instead. Neither holds lists or
/// predictions that stay on the GPU. All of it lives until the next search, or the next batch in that slot.
struct FilterAnswer {
  const double* distances;
  const std::int32_t* rows;
  const std::int32_t* uncertified;
  std::int64_t scanned, listed, evaluated;
  float milliseconds[kFilterSteps];
  const std::int32_t* winners = nullptr;
  const double* values = nullptr;
  std::int64_t opened = 0;   ///< groups of boxes that were compared with a query
  std::int64_t skipped = 0;  ///< pairs that a box ruled out
};

// --- the tensor filter: the whole training table on one GPU, images in halves or bytes, exact answers ----------------

/// What an image has in a column. Queries and training rows may differ in this, because only the product counts
/// (docs/numerics/filter.md, "Matrix units").
enum class ImagePart : std::int32_t {
  zero,
  constant,     ///< the factor
  number,       ///< (row[source] - centre) * scale in half precision, or in whole numbers; 0 if missing
  square_high,  ///< -1/2 the square of that number, rounded to a half,
  square_low,   ///< and what the rounding left
  present,      ///< the factor, or 0 if row[source] is missing
  value,        ///< the factor if row[source] is nominal value `value` modulo `n_buckets`, else 0
};

/// How a distance follows from s, the square of the distance of two images (knn/measure/form.hpp).
enum class Finish : std::int32_t {
  root,         ///< sqrt(s) / unit
  identity,     ///< s / unit^2
  half,         ///< s / 2
  chord_angle,  ///< 2 asin(sqrt(s) / 2)
};

struct ImageColumn {
  std::int32_t source;
  ImagePart query, train;
  std::int32_t value, n_buckets;
  float query_factor, train_factor;
  std::int32_t masked;  ///< a value missing in this attribute is accounted for; else it leaves the row without a bound
  double n_values;      ///< nominal attribute: codes are 0 ... n_values - 1
  double centre, scale;
};

struct TensorSpec {
  Measure measure;
  const ImageColumn* columns;
  std::int64_t n_columns;
  std::int64_t image_width;   ///< columns of an image, padded with zeros
  std::int32_t byte_factor;   ///< not 0: images in bytes, of unmasked numbers times one power of two, and queries'
                              ///< images times this, 1 or 2. 0: images in halves
  std::int64_t start_column;  ///< the first of three columns that have -|t|^2 / 2 and the shift of the scores;
                              ///< negative: the accumulators start there
  std::int64_t width;         ///< doubles a row
  std::int64_t n_rows;        ///< rows of the training table, or of the longest part of it
  std::int64_t n_buffers;     ///< how many parts of the table are held at once
  std::int64_t most_queries;  ///< most queries on the GPU at once
  std::int64_t most_neighbors;
  std::int64_t n_slots;      ///< batches under way, 1 ... kTensorSlots
  std::int64_t n_spaces;     ///< batches whose rows and answers the GPU holds at once, 1 ... n_slots
  std::int64_t list_groups;  ///< groups that a query's list has room for, at least 4 times most_neighbors
  double tiny;               ///< an image distance that the reference formula may lose to underflow
  double constant;           ///< the part that all pairs share: |q - t|^2 = constant + |q|^2 - 2 score
  double nominal;            ///< the sum of the mismatches' weights
  double hashed;             ///< the sum of those weights whose mismatches images may miss
  double product_error;      ///< bound of a score's error from the factors' rounding
  double slack;              ///< bound of the reference's error in the square of an image distance
  std::int32_t masks;        ///< whether values may be missing
  std::int32_t shares;       ///< whether two rows need an attribute that both have
  std::int32_t unit_rows;    ///< whether rows are scaled to length 1
  Finish finish;
  double unit;                 ///< the image distance of two rows at distance 1
  std::int32_t lent_rows = 0;  ///< not 0: tensor_lend brings the rows, and the filter has no room for them
};

// What a GPU does besides lists, or with queries that are on it already.
struct Vote;               // knn/vote/vote_abi.hpp
struct DeviceRows;         // knn/gpu/device_rows_abi.hpp
struct DeviceLists;        // knn/gpu/device_rows_abi.hpp
struct DevicePredictions;  // knn/gpu/device_rows_abi.hpp

/// The queries of a batch. They fill the GPU many times over. They are 132 blocks of the scan, so that on 132
/// multiprocessors any number of segments is whole waves.
inline constexpr std::int64_t kTensorBatchQueries = 33792;
/// The most queries of a batch: STOPE_TILE_QUERIES may ask for as many.
inline constexpr std::int64_t kMostTensorBatchQueries = 2 * kTensorBatchQueries;

/// Batches of queries under way at once. The GPU works on one, the rows of the next are there, and the host hands on
/// the answers of the one before. A filter may be made with fewer, or with less room on the GPU.
inline constexpr int kTensorSlots = 3;
/// Pieces of rows under way to the GPU: it copies one while the host fills the other.
inline constexpr int kTensorPieces = 2;

/// The most parts of a training table that a GPU holds: rows go to one buffer while the other is searched.
inline constexpr int kTensorBuffers = 2;

struct TensorQuery {
  const double* rows;  ///< n x width; lives until the batch is collected. Pinned memory is copied ten times as fast.
  std::int64_t n;      ///< at most TensorSpec::most_queries
  std::int64_t k;
  std::int64_t self;           ///< query i is training row self + i, which is not its neighbour; negative: no row is
                               ///< excluded
  std::int32_t heap = 0;       ///< answers are RapidMiner's heaps after all rows, in the order of their arrays
  std::int32_t buffer = 0;     ///< the part that is searched; it must be complete
  const Vote* vote = nullptr;  ///< asks for predictions, not lists; its voters must live until the batch is collected
  const DeviceRows* device_rows = nullptr;    ///< replaces `rows` where the rows are on the GPU
  const DeviceLists* device_lists = nullptr;  ///< keeps the lists on the GPU; there is no vote then
  /// Keeps the predictions on the GPU, where there is a vote; it has one k then.
  const DevicePredictions* device_predictions = nullptr;
  /// A distance per query, not NaN, beyond which no row is wanted, in pinned memory like `rows`. A list may then be
  /// shorter than k: kNoFilterRow follows, at an infinite distance. Null: the k nearest. Not for heaps, votes or
  /// device_lists.
  const double* within = nullptr;
};

inline constexpr std::int32_t kNoFilterRow = 0x7fffffff;

/// Batches of at most this many queries have a scan of their own, which takes all tiles. They fill the columns of one
/// matrix instruction twice. More are not read at the speed of memory.
inline constexpr std::int64_t kFewQueries = 16;
/// A table in clusters leaves tiles out for at most this many neighbours, a query's own row included,
inline constexpr std::int64_t kMostClusterNeighbors = 24;
/// and with images of at most this many columns.
inline constexpr std::int64_t kMostClusterColumns = 128;

/// A training table, or a part of one, with its images on one GPU. One thread at a time may use it, with two
/// exceptions. Several threads may call tensor_collect at once, for different slots, while another submits or makes
/// clusters. Rows may be brought to a table that is not searched meanwhile.
struct TensorFilter;

// --- the difference filter: the whole training table on one GPU, images in floats or bytes, or boxes; exact answers --

struct DifferenceSpec {
  Measure measure;
  RowForm row_form;  ///< points into host memory
  SumBounds bounds;
  const float* mismatch;        ///< per column of an image: the term of a mismatch
  const float* weight;          ///< per column of an image: its share of the divisor
  double steps;                 ///< images in bytes: steps per unit of the images; 0: images in floats
  std::int64_t width;           ///< doubles a row
  std::int64_t n_rows;          ///< rows of the training table
  std::int64_t most_queries;    ///< most queries on the GPU at once
  std::int64_t most_neighbors;  ///< of a query; more than 512 are found only within a distance
  std::int64_t piece_bytes;     ///< bytes of each of two pinned buffers
  std::int32_t boxes = 0;       ///< not 0: a search through boxes over boxes takes the place of a scan of images
};

inline constexpr std::int64_t kExcludesNothing = -1;  ///< a query's group

struct DifferenceQuery {
  const double* rows;  ///< n x width
  std::int64_t n;
  std::int64_t k;
  std::int64_t self;                 ///< see TensorQuery
  const std::int64_t* train_groups;  ///< group per training row, or null
  const std::int64_t* query_groups;  ///< group per query, or null
  const Vote* vote = nullptr;        ///< see TensorQuery
  /// A distance, 0 or more, beyond which no row is wanted. If it is finite, a list may be shorter than k: kNoFilterRow
  /// follows, at an infinite distance. A vote has none.
  double within = std::numeric_limits<double>::infinity();
  std::int32_t heap = 0;   ///< see TensorQuery; boxes have none
  std::int32_t place = 0;  ///< where in host memory the answer lies, 0 ... kAnswerPlaces - 1. It lives until the next
                           ///< search with the same place. Predictions have one place: they live until the next search.
};

/// While one answer is read, another search may run.
inline constexpr int kAnswerPlaces = 2;

/// A training table with its images on one GPU. One thread at a time may use it; answers may be read meanwhile.
struct DifferenceFilter;

/// Functions that return an int return 0 when all is well.
struct Functions {
  /// Says whether there is a kernel for the measure's struct.
  bool (*has_measure)(const char* type, std::int64_t n_bytes);
  int (*create)(std::int32_t gpu, const Measure* measure, const Sizes* sizes, Session** session, Failure* failure);
  void (*destroy)(Session* session);
  int (*load_queries)(Session* session, const double* rows, std::int64_t n, Failure* failure);
  /// Queues the copy of training rows; tiles submitted later wait for it.
  int (*load_rows)(Session* session, std::int64_t buffer, const double* rows, std::int64_t n, Failure* failure);
  /// Does the same for rows from `first` on that are on the session's GPU already. A session without room for rows
  /// reads them where they are: they must live, unchanged, as long as the session. Other threads may search in the
  /// filter that holds them meanwhile.
  int (*lend_rows)(Session* session, std::int64_t buffer, const LentRows* rows, std::int64_t first, std::int64_t n,
                   Failure* failure);
  /// Queues a tile: computes its distances, and selects those that do not exceed the query's threshold.
  int (*submit)(Session* session, int slot, const Tile* tile, const double* thresholds, Failure* failure);
  /// Waits for the tile in a slot. The memory of `survivors` lives until the slot's next tile.
  int (*collect)(Session* session, int slot, Survivors* survivors, Failure* failure);
  /// Writes values[i * ld + j] for query i and row j of the tile, as MeasureKernel::evaluate does; waits.
  int (*matrix)(Session* session, const Tile* tile, bool similarity, bool query_first, double* values, std::int64_t ld,
                Failure* failure);

  /// Copies what the training rows vote with. No batch that votes with the copy may be under way when it is destroyed.
  int (*voters_create)(std::int32_t gpu, const VoterView* voters, VotersOnGpu** copy, Failure* failure);
  void (*voters_destroy)(VotersOnGpu* copy);

  /// Copies n rows that the caller has in a GPU's memory within it, and waits.
  int (*rows_create)(std::int32_t gpu, const DeviceRows* from, std::int64_t n, std::int64_t width, RowsOnGpu** rows,
                     Failure* failure);
  void (*rows_destroy)(RowsOnGpu* rows);
  int (*rows_extremes)(const RowsOnGpu* rows, const ColumnExtremes* out, Failure* failure);
  /// Copies n rows to the host: rows which[i], or the rows from `first` on where `which` is null.
  int (*rows_download)(const RowsOnGpu* rows, std::int64_t first, const std::int64_t* which, std::int64_t n, double* to,
                       Failure* failure);

  int (*tensor_size)(std::int32_t gpu, const TensorSpec* spec, FilterSize* size, Failure* failure);
  int (*tensor_create)(std::int32_t gpu, const TensorSpec* spec, TensorFilter** filter, Failure* failure);
  void (*tensor_destroy)(TensorFilter* filter);
  /// Empties a table for another one, or another part of one, of at most TensorSpec::n_rows rows. No batch may be under
  /// way in it.
  int (*tensor_begin)(TensorFilter* filter, int buffer, std::int64_t n_rows, Failure* failure);
  /// Takes all training rows in place of tensor_load(), from memory that must live as long as the filter, or until
  /// tensor_begin(). The filter was made for it.
  int (*tensor_lend)(TensorFilter* filter, int buffer, const RowsOnGpu* rows, Failure* failure);
  /// Queues the next n training rows. They must stay unchanged until tensor_wait() of the same `piece`.
  int (*tensor_load)(TensorFilter* filter, int buffer, int piece, const double* rows, std::int64_t n, Failure* failure);
  int (*tensor_wait)(TensorFilter* filter, int piece, Failure* failure);
  /// Call it after the last row. Returns the number of rows that no image bounds well; these are always listed.
  int (*tensor_finish)(TensorFilter* filter, int buffer, std::int64_t* n_always, Failure* failure);
  /// Puts the images of a complete table in the order of their nearest centres, so that searches can leave tiles out.
  /// `centres` are n_centres rows like those of the table. Rows farther than most_radius from every centre are never
  /// left out. `made` says whether it was done: it is not for some images and GPUs. Without centres the clusters of
  /// before go. Batches may be under way.
  int (*tensor_clusters)(TensorFilter* filter, int buffer, const double* centres, std::int64_t n_centres,
                         double most_radius, bool* made, Failure* failure);
  /// Queues the search of a batch in a slot that is free: never used, or collected.
  int (*tensor_submit)(TensorFilter* filter, int slot, const TensorQuery* query, Failure* failure);
  /// Waits for the batch in a slot. The slot is free afterwards, even after an error.
  int (*tensor_collect)(TensorFilter* filter, int slot, FilterAnswer* answer, Failure* failure);

  int (*differences_size)(std::int32_t gpu, const DifferenceSpec* spec, FilterSize* size, Failure* failure);
  int (*differences_create)(std::int32_t gpu, const DifferenceSpec* spec, DifferenceFilter** filter, Failure* failure);
  void (*differences_destroy)(DifferenceFilter* filter);
  /// Adds the next n training rows.
  int (*differences_load)(DifferenceFilter* filter, const double* rows, std::int64_t n, Failure* failure);
  /// Call it after the last row. Returns the number of rows that no image bounds well; these are always listed.
  int (*differences_finish)(DifferenceFilter* filter, std::int64_t* n_always, Failure* failure);
  int (*differences_search)(DifferenceFilter* filter, const DifferenceQuery* query, FilterAnswer* answer,
                            Failure* failure);
};
static_assert(stope::cuda_abi::kFunctionsIn<Functions> == stope::cuda_abi::kTableSizes.knn,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::knn::cuda_abi
