#include "discretize/cuda_sets.hpp"

#include <algorithm>
#include <span>

#include "base/thread_pool.hpp"
#include "device/cuda_plugin.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/cuda_cuts.hpp"
#include "discretize/cuda_pieces.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/value_order.hpp"

namespace stope::discretize {
namespace {

using cuda_abi::Failure;
using device::checked_call;

// The attributes of one type that one GPU cuts. They are sorted in pieces, and then cut all together, if memory allows.
class Worker {
 public:
  Worker(const DecisionProblem& problem, std::span<const std::int64_t> attributes, CutSet& cuts, const RunOptions& run)
      : problem_(problem), attributes_(attributes), cuts_(cuts), run_(run) {}

  /// Returns the attributes that are left open.
  std::vector<std::int64_t> run(int gpu, cuda_abi::Decisions decisions, std::int64_t of_piece, std::int64_t most) {
    const std::int64_t n = std::ssize(attributes_);
    if (n == 0) return {};
    decisions.most_sorted = columns_sorted_at_once(decisions, of_piece, n, most);
    session_ = make_session(gpu, decisions, of_piece);
    for (std::int64_t begin = 0; begin < n; begin += decisions.most_sorted) {
      cut(attributes_.subspan(static_cast<std::size_t>(begin),
                              static_cast<std::size_t>(std::min(decisions.most_sorted, n - begin))),
          of_piece);
    }
    return open_;
  }

 private:
  void cut(std::span<const std::int64_t> attributes, std::int64_t of_piece) {
    const std::vector<std::int64_t> sent(attributes.begin(), attributes.end());
    double seconds = 0.0;
    send_pieces(
        problem_, {sent, of_piece, 0, 1}, *session_, run_,
        [&](int slot) {
          checked_call([&](Failure* failure) {
            return cut_functions().collect(session_.get(), slot, nullptr, &seconds, failure);
          });
        },
        [](std::span<const std::int64_t>) {});
    std::vector<std::int32_t> n_cuts(sent.size());
    const cuda_abi::SetCut* found = nullptr;
    std::int64_t n_found = 0;
    checked_call([&](Failure* failure) {
      return cut_functions().cut_sorted(session_.get(), n_cuts.data(), &found, &n_found, &seconds, failure);
    });
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (n_cuts[i] == cuda_abi::kUndecided) {
        open_.push_back(sent[i]);
      } else {
        const auto a = static_cast<std::size_t>(sent[i]);
        cuts_[a] = {problem_.attributes[a].name, false, {}, {}};
      }
    }
    for (const cuda_abi::SetCut& one : std::span(found, static_cast<std::size_t>(n_found))) {
      if (one.column < 0) continue;
      add(static_cast<std::size_t>(sent[static_cast<std::size_t>(one.column)]), one);
    }
    for (const std::int64_t a : sent) {
      std::vector<double>& numbers = cuts_[static_cast<std::size_t>(a)].numbers;
      std::sort(numbers.begin(), numbers.end());
    }
  }

  void add(std::size_t attribute, const cuda_abi::SetCut& cut) {
    cuts_[attribute].numbers.push_back(problem_.attributes[attribute].with_numbers([&](const auto* x) {
      return cut_between(static_cast<double>(x[cut.low_row]), static_cast<double>(x[cut.high_row]));
    }));
  }

  const DecisionProblem& problem_;
  const std::span<const std::int64_t> attributes_;
  CutSet& cuts_;
  const RunOptions& run_;
  CutSession session_;
  std::vector<std::int64_t> open_;
};

}  // namespace

const char* why_no_mdlp_on_gpu(const DecisionProblem& problem) {
  return problem.pure() ? "there is one class, and nothing to cut" : why_not_on_gpu(problem, Criterion::entropy, 0);
}

std::vector<std::int64_t> mdlp_on_gpus(const DecisionProblem& problem, const std::vector<int>& gpus,
                                       const RunOptions& run, CutSet& cuts) {
  device::note_cuda_use();
  const AttributeSorts sorts(problem);
  const PresentClasses classes(problem);
  cuda_abi::Decisions decisions{.classes = classes.of_row.data(),
                                .totals = classes.totals.data(),
                                .n_rows = classes.n_rows(),
                                .n_classes = classes.n(),
                                .type = cuda_abi::Type::float32,
                                .score = cuda_abi::Score::entropy,
                                .wanted = cuda_abi::Wanted::mdlp};
  const std::int64_t most = memory_of_session(gpus, run);
  std::vector<std::int64_t> open = sorts.open;
  for (const cuda_abi::Type type : {cuda_abi::Type::float32, cuda_abi::Type::float64}) {
    const auto& attributes = type == cuda_abi::Type::float32 ? sorts.floats : sorts.doubles;
    if (attributes.empty()) continue;
    decisions.type = type;
    const std::int64_t of_piece = columns_of_piece(decisions, std::ssize(attributes), gpus, most, run);
    std::vector<std::vector<std::int64_t>> opened(gpus.size());
    ThreadPool pool(static_cast<int>(gpus.size()));
    pool.parallel_for(std::ssize(gpus), run.cancel, [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      Worker worker(problem, share_of(attributes, at, gpus.size()), cuts, run);
      opened[at] = worker.run(gpus[at], decisions, of_piece, most);
    });
    for (const auto& more : opened) open.insert(open.end(), more.begin(), more.end());
  }
  return open;
}

}  // namespace stope::discretize
