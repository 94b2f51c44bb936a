// How a batch of queries is searched: the nearest rows, those within a distance, and RapidMiner's heaps.
#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "knn/cuda/copies.hpp"
#include "knn/cuda/differences/heaps.hpp"
#include "knn/cuda/differences/session.hpp"

namespace stope::knn::cuda {
namespace {

// More neighbours than the usual ones have a larger sample, and smaller chunks.
constexpr std::int64_t kUsualNeighbors = 128;
// Segments of a list are so short that the last blocks of a wave do not wait long.
constexpr std::int64_t kWaves = 10;

/// Cuts the tiles of a scan into about `wanted` segments.
ScanTiles cut_tiles(std::int64_t n_queries, std::int64_t n_tiles, std::int64_t stride, std::int64_t wanted) {
  const std::int64_t segments = std::clamp<std::int64_t>(wanted, 1, n_tiles);
  return {n_queries, n_tiles, stride, checked::ceil_div(n_tiles, segments)};
}

constexpr std::int64_t kGroupsPerSegment = 16;

std::int64_t segments_of(const ScanTiles& tiles) {
  return checked::ceil_div(tiles.n_tiles, tiles.tiles_per_segment);
}

}  // namespace

template <class Sink, class Differences, class Bytes>
void DifferenceSession::scan(const ScanTiles& tiles, const Exclusions& exclusions, const Sink& sink,
                             const Differences& differences, const Bytes& bytes) {
  if (in_bytes()) {
    const ByteScan job{.divides = divides(),
                       .queries = query_images_.data(),
                       .train = train_images_.data(),
                       .starts = byte_starts_.data(),
                       .difference_words = bytes_.difference_words,
                       .product_words = bytes_.product_words,
                       .divisor_words = bytes_.divisor_words,
                       .tiles = tiles,
                       .exclusions = exclusions};
    bytes(job, sink, stream_.get());
  } else {
    const DifferenceScan job{.form = spec_.bounds.form,
                             .gaps = gaps_,
                             .queries = reinterpret_cast<const float*>(query_images_.data()),
                             .train = reinterpret_cast<const float*>(train_images_.data()),
                             .starts = starts_.data(),
                             .n_numeric = static_cast<int>(spec_.row_form.n_numeric),
                             .n_columns = static_cast<int>(n_columns_),
                             .mismatch = mismatch_.data(),
                             .weight = weight_.data(),
                             .tiles = tiles,
                             .exclusions = exclusions};
    differences(job, sink, stream_.get());
  }
}

void DifferenceSession::evaluate(const Batch& batch, const ChosenRows& chosen) {
  const ListedPairs pairs{.queries = queries_[batch.buffer].data(),
                          .train = train_.data(),
                          .width = spec_.width,
                          .attributes = attributes_.data(),
                          .n_queries = chosen.n_queries,
                          .rows = chosen.rows,
                          .counts = chosen.counts,
                          .stride = chosen.stride,
                          .distances = chosen.distances};
  kernel_->launch(pairs, measure_.data(), stream_.get());
}

// The sample is every share-th tile: a prefix would say nothing of a sorted table. There are several times as many
// groups as neighbours, so that the k-th best group has a row near the k-th nearest of the sample. With k = 512 there
// are twice as many: such a group has the 726th of the sample, on average, and a list has 8 times as many rows.
ScanTiles DifferenceSession::sample_tiles(std::int64_t n_queries, std::int64_t k) const {
  constexpr std::int64_t kShare = 16, kShareOfMany = 8, kLeastTiles = 32, kGroupsPerNeighbor = 8;
  const std::int64_t n_tiles = n_padded_ / kPairTile;
  const std::int64_t share = k <= kUsualNeighbors ? kShare : kShareOfMany;
  const std::int64_t stride = std::max<std::int64_t>(1, std::min(share, n_tiles / kLeastTiles));
  const std::int64_t wanted = checked::ceil_div(kGroupsPerNeighbor * k, kGroupsPerSegment);
  const std::int64_t segments = std::max(segments_that_fill(n_queries), wanted);
  return cut_tiles(n_queries, checked::ceil_div(n_tiles, stride), stride,
                   std::min<std::int64_t>(segments, kMostGroups / kGroupsPerSegment));
}

std::int64_t DifferenceSession::segments_that_fill(std::int64_t n_queries) const {
  constexpr std::int64_t kBlocksPerProcessor = 2;
  return checked::ceil_div(kBlocksPerProcessor * multiprocessors_, checked::ceil_div(n_queries, kPairTile));
}

EntryLists DifferenceSession::lists() const {
  return {cuts_.data(), entries_.data(), counts_.data(), static_cast<std::int32_t>(list_capacity_)};
}

void DifferenceSession::find_nearest(const cuda_abi::DifferenceQuery& query, const Batch& batch,
                                     const Exclusions& exclusions, const ChosenRows& chosen) {
  const std::int64_t n = batch.n;
  const auto k = static_cast<int>(query.k);
  const bool within = query.within < std::numeric_limits<double>::infinity();  // no sample is needed then
  const ScanTiles sample = sample_tiles(n, query.k);
  const GroupBests bests{group_scores_.data(), group_rows_.data(), segments_of(sample) * kGroupsPerSegment};
  if (!within) scan(sample, exclusions, bests, launch_difference_sample, launch_byte_sample);

  ends_[cuda_abi::kSampleStep].record(stream_);
  constexpr int kSpareRows = 8;  // the order of distances differs a little from that of sums
  if (!within) {
    launch_choose_of_groups(bests, k + kSpareRows, chosen, stream_.get());
    evaluate(batch, chosen);
  }
  const CutJob cuts{.rule = rule(),
                    .k = k,
                    .list_all = spec_.n_rows <= list_capacity_,
                    .within = query.within,
                    .cuts = cuts_.data(),
                    .reaches = reaches_.data()};
  launch_cuts(cuts, chosen, stream_.get());

  ends_[cuda_abi::kThresholdsStep].record(stream_);
  const ScanTiles all = cut_tiles(n, n_padded_ / kPairTile, 1, kWaves * segments_that_fill(n));
  const EntryLists lists = this->lists();
  clear(counts_, stream_);
  scan(all, exclusions, lists, launch_difference_list, launch_byte_list);

  ends_[cuda_abi::kListStep].record(stream_);
  if (within) {
    clear(chosen_counts_, stream_);  // only more rows than a list has places for would sharpen the cut
  } else {
    launch_choose_of_lists(lists, divides(), k, chosen, stream_.get());
    evaluate(batch, chosen);
  }
  const SharpenJob sharpen{.rule = rule(),
                           .k = k,
                           .lists = lists,
                           .reaches = reaches_.data(),
                           .always = always_.data(),
                           .n_always = std::min(n_always_, kMostAlways),
                           .exclusions = exclusions,
                           .uncertified = uncertified_.data(),
                           .n_listed = totals_.data() + kListed,
                           .n_evaluated = totals_.data() + kEvaluated};
  launch_sharpen(sharpen, chosen, stream_.get());
  evaluate(batch, chosen);
  launch_nearest({k, within, distances_.data(), rows_.data(), uncertified_.data()}, chosen, stream_.get());
}

// The first chunk has more rows than a heap, and all of them are offered. Each later chunk has three times as many rows
// as all before it. So about three rows a neighbour enter the heap in each chunk, and there are few chunks. For a large
// heap a chunk has as many rows as all before it: those of three would not fit. All this time counts as the list step.
void DifferenceSession::fill_heaps(const cuda_abi::DifferenceQuery& query, const Batch& batch,
                                   const Exclusions& exclusions, const ChosenRows& chosen) {
  constexpr std::int64_t kLargeHeap = 128;
  const std::int64_t growth = query.k <= kLargeHeap ? 3 : 1, n_tiles = n_padded_ / kPairTile;
  const Heaps heaps{.n_queries = batch.n,
                    .k = static_cast<int>(query.k),
                    .distances = distances_.data(),
                    .rows = rows_.data(),
                    .sizes = heap_sizes_.data(),
                    .uncertified = uncertified_.data()};
  ChunkRows chunk{.first = 0,
                  .end = 0,
                  .all = true,
                  .lists = lists(),
                  .always = always_.data(),
                  .n_always = std::min(n_always_, kMostAlways),
                  .exclusions = exclusions,
                  .unordered = group_rows_.data(),
                  .n_listed = totals_.data() + kListed,
                  .n_evaluated = totals_.data() + kEvaluated};
  clear(heap_sizes_, stream_);
  clear(uncertified_, stream_);
  ends_[cuda_abi::kSampleStep].record(stream_);
  ends_[cuda_abi::kThresholdsStep].record(stream_);
  std::int64_t step = checked::ceil_div(query.k + 1, kPairTile);
  for (std::int64_t first = 0; first < n_tiles; first += step, step = growth * first) {
    step = std::min(step, n_tiles - first);
    chunk.all = first == 0;
    chunk.first = static_cast<std::int32_t>(first * kPairTile);
    chunk.end = static_cast<std::int32_t>(std::min((first + step) * kPairTile, spec_.n_rows));
    if (!chunk.all) {
      launch_heap_cuts(heaps, rule(), cuts_.data(), stream_.get());
      clear(counts_, stream_);
      ScanTiles tiles = cut_tiles(batch.n, step, 1, kWaves * segments_that_fill(batch.n));
      tiles.first_tile = first;
      scan(tiles, exclusions, chunk.lists, launch_difference_list, launch_byte_list);
    }
    launch_chunk_rows(chunk, heaps, chosen, stream_.get());
    evaluate(batch, chosen);
    launch_offers(heaps, chosen, first + step == n_tiles, stream_.get());
  }
  ends_[cuda_abi::kListStep].record(stream_);
}

}  // namespace stope::knn::cuda
