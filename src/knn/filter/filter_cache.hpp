// The filter's part of a fitted index, made when a search first needs it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "knn/filter/derived_images.hpp"
#include "knn/filter/image_map.hpp"

namespace stope::knn {

class TensorFilter;      // knn/gpu/tensor/resident_table.hpp
struct PartsHeld;        // knn/gpu/tensor/parts.cpp
class DifferenceFilter;  // knn/gpu/differences/difference_filter.cpp

/// What images on GPUs have to allow for, or be of, as searches have shown: queries lack values of attributes that
/// every training row has; rows or queries are not the small whole numbers that a sample has.
enum class ImageNeed { missing, halves };

struct FilterIndex {
  std::shared_ptr<const ImageMap> map;
  std::shared_ptr<const TrainImages> images;
  ScanKind kind = ScanKind::differences;
  std::shared_ptr<const FloatProducts> floats;  // kind products
  std::shared_ptr<const ByteImages> bytes;      // the kinds in bytes: a form fits one of them at most
};

/// Adds to an index what is not there yet. A kind that the rows do not fit becomes differences: missing values fit
/// byte differences alone, and those only if `missing_in_bytes`.
void add_missing_images(FilterIndex& index, const std::shared_ptr<const ImageMap>& map, const TrainPart& part,
                        std::int64_t width, BlockOrder order, ScanKind kind, bool missing_in_bytes, ThreadPool& pool,
                        const CancelToken& cancel);

/// The filter indices of one fitted table. Safe from several threads at once.
class FilterCache {
 public:
  /// The index of the whole table, kept for the next search; a failure leaves no half-made part of it behind.
  FilterIndex whole(const std::shared_ptr<const ImageMap>& map, const TrainPart& part, std::int64_t width,
                    BlockOrder order, ScanKind kind, bool missing_in_bytes, ThreadPool& pool,
                    const CancelToken& cancel);

  std::shared_ptr<const ImageMap> map(const Fitted& fitted, const FilterForm& form);

  /// Memory for the lists of a block of queries, as the search before left it: what is written for the first time costs
  /// more than what is written to it. Empty if there is none.
  Neighbors take_lists();
  void keep_lists(Neighbors lists);

  /// Adds the queries of a search; returns the sum of all so far.
  std::int64_t add_queries(std::int64_t n);
  std::int64_t n_queries() { return add_queries(0); }

  /// What `make` returned for a GPU, kept for the next search. It gets what there was, to keep or to replace. Tables go
  /// to several GPUs at once, to each of them once.
  std::shared_ptr<TensorFilter> tensor_filter(
      int gpu, const std::function<std::shared_ptr<TensorFilter>(const std::shared_ptr<TensorFilter>&)>& make);
  bool has_tensor_filter(int gpu);
  /// Images that do not allow for it are dropped, and those made from now on do.
  void require_images(ImageNeed need);
  bool requires_images(ImageNeed need);
  /// The same of the filter by differences, one for images in floats and one for bytes.
  std::shared_ptr<DifferenceFilter> difference_filter(
      int gpu, bool in_bytes,
      const std::function<std::shared_ptr<DifferenceFilter>(const std::shared_ptr<DifferenceFilter>&)>& make);
  bool has_difference_filter(int gpu, bool in_bytes);

  /// What the last search of the table in parts left on the GPUs, for one search at a time; null if there is none.
  std::shared_ptr<PartsHeld> take_parts();
  void keep_parts(std::shared_ptr<PartsHeld> parts);

  /// What `choose` returned when it was first asked for this backend and order of rows: looking at a sample costs as
  /// much as a small search.
  Method choice(device::Backend backend, bool in_order, const std::function<Method()>& choose);

 private:
  std::mutex mutex_;
  std::shared_ptr<const ImageMap> map_;
  std::map<std::pair<device::Backend, bool>, Method> choices_;
  std::int64_t n_queries_ = 0;
  Neighbors lists_;
  bool expected_[2] = {};  // by ImageNeed
  struct OnGpu {
    std::mutex mutex;
    std::shared_ptr<TensorFilter> filter;
  };
  OnGpu& on_gpu(int gpu);

  std::map<int, OnGpu> cuda_;  // by GPU; what is in a map does not move
  std::shared_ptr<PartsHeld> parts_;
  std::map<std::pair<int, bool>, std::shared_ptr<DifferenceFilter>> cuda_differences_;
  FilterIndex made_[2];  // one an order of rows, with every kind asked for
};

}  // namespace stope::knn
