#include "tree/grow_cuda.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "device/cuda_plugin.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/stage_columns.hpp"
#include "discretize/value_order.hpp"
#include "tree/cuda_abi.hpp"
#include "tree/node_list.hpp"

namespace stope::tree {
namespace {

using cuda_abi::Failure;
using cuda_abi::Type;
using discretize::Attribute;
using discretize::DecisionProblem;

// Large enough to hide launches, small enough to be copied and sorted in turn.
constexpr std::int64_t kPieceBytes = std::int64_t{16} << 20;
constexpr std::int64_t kMostGpuRows = (std::int64_t{1} << 31) - 1;

const cuda_abi::Functions& functions() {
  return *device::cuda().functions->tree;
}

template <class Call>
void checked_call(const Call& call) {
  Failure failure{};
  if (call(&failure) != 0) device::throw_failure(failure);
}

struct Destroy {
  void operator()(cuda_abi::Session* session) const { functions().destroy(session); }
};

Type type_of(const Attribute& attribute) {
  if (attribute.symbolic) return Type::code;
  return std::holds_alternative<Buffer<float>>(attribute.data) ? Type::float32 : Type::float64;
}

// The least W that is a score of at least `score`, as doubles compare.
std::int64_t least_w(double score) {
  std::int64_t low = 1, high = std::numeric_limits<std::int64_t>::max();
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<double>(middle) >= score) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

class CudaGrowth {
 public:
  CudaGrowth(const DecisionProblem& problem, const GrowOptions& options, const RunOptions& run)
      : problem_(problem), options_(options), run_(run), classes_(problem), list_(problem.n_classes()) {}

  Grown grow(int gpu) {
    const std::int64_t root = list_.add({.n_rows = problem_.n_rows}, problem_.class_totals);
    if (!list_.may_split(root, options_)) return list_.preorder();
    create(gpu);
    for (const Type type : {Type::float32, Type::float64, Type::code}) send(type);
    for (std::int64_t open_rows = problem_.n_rows; open_rows > 0;) {
      run_.cancel.check();
      checked_call([&](Failure* failure) { return functions().grow(session_.get(), &open_rows, failure); });
      if (run_.progress) run_.progress("rows in leaves", problem_.n_rows - open_rows, problem_.n_rows);
    }
    cuda_abi::Splits splits{};
    checked_call([&](Failure* failure) { return functions().splits(session_.get(), &splits, failure); });
    apply(splits);
    Grown grown = list_.preorder();
    grown.report.threads = 1;
    grown.report.gpu_seconds = {{"sort", splits.sort_seconds}, {"grow", splits.grow_seconds}};
    return grown;
  }

 private:
  void create(int gpu) {
    device::note_cuda_use();
    const cuda_abi::Problem problem = {classes_.of_row.data(),
                                       classes_.totals.data(),
                                       problem_.n_rows,
                                       problem_.n_attributes(),
                                       classes_.n(),
                                       options_.max_depth.value_or(std::numeric_limits<std::int64_t>::max()),
                                       options_.min_samples_leaf,
                                       least_w(options_.min_score)};
    cuda_abi::Session* made = nullptr;
    const std::int64_t all = checked::mul(problem_.n_rows * 8, problem_.n_attributes());
    const std::int64_t bytes = std::max(std::min(all, kPieceBytes), problem_.n_rows * 8);
    checked_call([&](Failure* failure) { return functions().create(gpu, &problem, bytes, &made, failure); });
    session_.reset(made);
    of_piece_bytes_ = bytes;
  }

  // All attributes of a type, piece by piece.
  void send(Type type) {
    std::vector<std::int64_t> attributes;
    for (std::int64_t a = 0; a < problem_.n_attributes(); ++a) {
      if (type_of(attribute(a)) == type) attributes.push_back(a);
    }
    if (attributes.empty()) return;
    const std::int64_t bytes = discretize::bytes_of(attribute(attributes[0]), problem_.n_rows);
    const auto together = static_cast<std::size_t>(of_piece_bytes_ / bytes);
    ThreadPool pool(discretize::staging_threads(run_, bytes * std::ssize(attributes)));
    for (std::size_t begin = 0; begin < attributes.size(); begin += together, slot_ = (slot_ + 1) % cuda_abi::kSlots) {
      run_.cancel.check();
      const auto piece =
          std::span<const std::int64_t>(attributes).subspan(begin, std::min(together, attributes.size() - begin));
      void* memory = nullptr;
      checked_call([&](Failure* failure) { return functions().columns(session_.get(), slot_, &memory, failure); });
      discretize::stage_columns(problem_, piece, pool, memory);
      checked_call([&](Failure* failure) {
        return functions().submit(session_.get(), slot_, type, piece.data(), std::ssize(piece), failure);
      });
    }
  }

  const Attribute& attribute(std::int64_t a) const { return problem_.attributes[static_cast<std::size_t>(a)]; }

  void apply(const cuda_abi::Splits& splits) {
    std::vector<std::int64_t> level = {0};
    for (std::int64_t at = 0; at < splits.n;) {
      std::vector<std::int64_t> next;
      for (const std::int64_t node : level) {
        const cuda_abi::Split& split = splits.splits[at++];
        if (split.attribute < 0) continue;
        describe(node, split);
        const auto [left, right] = list_.split(node, split.n_right, right_counts(splits, at - 1));
        if ((split.open & 1) != 0) next.push_back(left);
        if ((split.open & 2) != 0) next.push_back(right);
      }
      level = std::move(next);
    }
  }

  std::vector<std::int64_t> right_counts(const cuda_abi::Splits& splits, std::int64_t at) const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(problem_.n_classes()), 0);
    const std::uint32_t* const here = splits.right_counts + at * classes_.n();
    for (std::size_t k = 0; k < classes_.original.size(); ++k) counts[classes_.original[k]] = here[k];
    return counts;
  }

  void describe(std::int64_t node, const cuda_abi::Split& split) {
    GrownNode& here = list_.node(node);
    here.attribute = split.attribute;
    here.w = split.w;
    here.score = static_cast<double>(split.w);
    const Attribute& tested = attribute(split.attribute);
    if (tested.symbolic) {
      here.value = tested.codes()[split.low];
      return;
    }
    tested.with_numbers([&](const auto* x) {
      here.cut = discretize::cut_between(static_cast<double>(x[split.low]), static_cast<double>(x[split.high]));
    });
  }

  const DecisionProblem& problem_;
  const GrowOptions& options_;
  const RunOptions& run_;
  discretize::PresentClasses classes_;
  NodeList list_;
  std::unique_ptr<cuda_abi::Session, Destroy> session_;
  std::int64_t of_piece_bytes_ = 0;
  int slot_ = 0;
};

}  // namespace

const char* why_not_on_gpu(const DecisionProblem& problem, const GrowOptions& options) {
  if (options.criterion != Criterion::discernibility) return "GPUs grow trees by discernibility only";
  if (problem.weighted) return "GPUs grow trees of rows without weights only";
  if (problem.n_rows > kMostGpuRows) return "GPUs grow trees of fewer than 2^31 rows";
  return discretize::n_present_classes(problem) > discretize::kMostGpuClasses ? "GPUs take up to 256 classes" : nullptr;
}

Grown grow_cuda(const DecisionProblem& problem, const GrowOptions& options, const RunOptions& run, int gpu) {
  return CudaGrowth(problem, options, run).grow(gpu);
}

}  // namespace stope::tree
