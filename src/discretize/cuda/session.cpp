#include "discretize/cuda/session.hpp"

#include "base/checked.hpp"
#include "device/cuda/check.hpp"
#include "discretize/score.hpp"

namespace stope::discretize::cuda {
namespace {

using stope::cuda::check;

std::int64_t size_of(cuda_abi::Type type) {
  return type == cuda_abi::Type::float32 ? 4 : 8;
}

// The copy is done once the default stream is.
template <class T>
void upload(stope::cuda::DeviceBuffer<T>& to, const T* from, std::int64_t n) {
  to = stope::cuda::DeviceBuffer<T>(n);
  check(cudaMemcpy(to.data(), from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyHostToDevice),
        "copying classes");
}

}  // namespace

CutSession::CutSession(int gpu, const cuda_abi::Decisions& decisions, std::int64_t most_columns)
    : gpu_(gpu),
      n_rows_(decisions.n_rows),
      n_classes_(decisions.n_classes),
      type_(decisions.type),
      gains_(decisions.score, decisions.weights == nullptr ? n_rows_ : kMostInformation + 1),  // no table of weights
      all_(decisions.wanted == cuda_abi::Wanted::best_cut ? gains_of_all(decisions) : NodeGains{}) {
  upload(classes_, decisions.classes, n_rows_);
  upload(totals_, decisions.totals, n_classes_);
  if (decisions.weights != nullptr) upload(weights_, decisions.weights, n_rows_);
  const std::int64_t bytes = checked::mul(checked::mul(n_rows_, most_columns), size_of(type_));
  for (Slot& slot : slots_) {
    slot.host_values = stope::cuda::PinnedBuffer<char>(bytes);
    slot.values = stope::cuda::DeviceBuffer<char>(bytes);
    slot.w = stope::cuda::DeviceBuffer<std::int64_t>(most_columns);
    slot.ends = stope::cuda::DeviceBuffer<double>(2 * most_columns);
    slot.host_w = stope::cuda::PinnedBuffer<std::int64_t>(most_columns);
    slot.host_ends = stope::cuda::PinnedBuffer<double>(2 * most_columns);
    check(cudaMemset(slot.ends.data(), 0, static_cast<std::size_t>(slot.ends.bytes())),
          "clearing cuts");  // some columns write only w
    slot.list = stope::cuda::DeviceBuffer<int>(most_columns + 1);
    if (decisions.n_permutations == 0) continue;
    slot.as_good = stope::cuda::DeviceBuffer<std::int32_t>(most_columns);
    slot.host_as_good = stope::cuda::PinnedBuffer<std::int32_t>(most_columns);
  }
  if (decisions.wanted != cuda_abi::Wanted::best_cut) {
    sorted_ = std::make_unique<SortedColumns>(decisions, most_columns);
    if (decisions.wanted == cuda_abi::Wanted::weighted_cut) weighted_ = std::make_unique<WeightedCuts>(decisions);
    if (decisions.wanted == cuda_abi::Wanted::mdlp) mdlp_ = std::make_unique<Mdlp>(decisions);
    if (decisions.wanted == cuda_abi::Wanted::global) global_ = std::make_unique<GlobalCuts>(decisions);
  } else if (n_rows_ > kShortRows) {
    long_ = std::make_unique<LongCuts>(decisions, most_columns);
  }
  if (decisions.n_permutations > 0) permutations_ = std::make_unique<Permutations>(decisions, most_columns);
  // The slots' streams do not wait for what was copied and cleared here.
  check(cudaStreamSynchronize(nullptr), "copying classes");
}

// A piece that failed leaves work under way, which must end before its memory is freed.
CutSession::~CutSession() {
  for (const Slot& slot : slots_) cudaStreamSynchronize(slot.stream.get());
}

template <class T>
void CutSession::find_cuts(Slot& slot) {
  int class_bits = 0;
  while ((1 << class_bits) < n_classes_) ++class_bits;
  const Columns<T> columns = {.values = reinterpret_cast<const T*>(slot.values.data()),
                              .n_rows = n_rows_,
                              .n_columns = slot.n_columns,
                              .classes = classes_.data(),
                              .totals = totals_.data(),
                              .n_classes = n_classes_,
                              .class_bits = class_bits,
                              .gains = gains_.there(),
                              .all = all_};
  sorted_ != nullptr ? sorted_->sort(columns, slot.stream) : find_best_cuts(columns, slot);
}

template <class T>
void CutSession::find_best_cuts(const Columns<T>& columns, Slot& slot) {
  const CutsThere cuts = {slot.w.data(), slot.ends.data(), slot.ends.data() + slot.n_columns};
  if (long_ == nullptr) {
    find_cuts_of_short<T>(columns, cuts, slot.list.data(), slot.stream.get());
  } else {
    long_->find(columns, cuts, slot.stream);
  }
  if (permutations_ == nullptr) return;
  if (long_ == nullptr) {
    permutations_->order(columns, slot.stream);
  } else {
    permutations_->order(long_->orders(), slot.n_columns, slot.stream);
  }
  permutations_->test(slot.n_columns, slot.w.data(), totals_.data(), slot.as_good.data(), slot.stream);
}

void CutSession::submit(int number, std::int64_t n_columns) {
  Slot& slot = slots_[number];
  slot.n_columns = n_columns;
  cudaStream_t stream = slot.stream.get();
  const auto bytes = static_cast<std::size_t>(n_rows_ * n_columns * size_of(type_));
  check(cudaMemcpyAsync(slot.values.data(), slot.host_values.data(), bytes, cudaMemcpyHostToDevice, stream),
        "copying columns");
  if (long_ != nullptr) long_->hold(slot.stream);
  if (permutations_ != nullptr) permutations_->hold(slot.stream);
  slot.watch.start(stream);
  type_ == cuda_abi::Type::float32 ? find_cuts<float>(slot) : find_cuts<double>(slot);
  slot.watch.stop(stream);
  const auto download = [&](auto* to, const auto* from, std::int64_t n) {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof *to, cudaMemcpyDeviceToHost, stream),
          "copying cuts");
  };
  if (sorted_ != nullptr) return;
  download(slot.host_w.data(), slot.w.data(), n_columns);
  download(slot.host_ends.data(), slot.ends.data(), 2 * n_columns);
  if (permutations_ != nullptr) download(slot.host_as_good.data(), slot.as_good.data(), n_columns);
}

double CutSession::collect(int number, cuda_abi::Cut* cuts) {
  Slot& slot = slots_[number];
  slot.stream.wait();
  for (std::int64_t c = 0; sorted_ == nullptr && c < slot.n_columns; ++c) {
    cuts[c] = {slot.host_w.data()[c], slot.host_ends.data()[c], slot.host_ends.data()[slot.n_columns + c],
               permutations_ != nullptr ? slot.host_as_good.data()[c] : 0};
  }
  const double before = slot.watch.seconds();
  slot.watch.read();
  return slot.watch.seconds() - before;
}

double CutSession::cut_sorted(std::int32_t* n_cuts, const cuda_abi::SetCut** cuts, std::int64_t* n) {
  const double seconds = mdlp_->cut(*sorted_, searched(), n_cuts, cuts, n, slots_[0].stream);
  sorted_->forget();
  return seconds;
}

double CutSession::weighted_cuts(cuda_abi::WeightedCut* cuts) {
  const double seconds = weighted_->find(*sorted_, searched(), cuts, slots_[0].stream);
  sorted_->forget();
  return seconds;
}

}  // namespace stope::discretize::cuda
