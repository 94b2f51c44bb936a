#include "tree/grow_cuda.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <span>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "device/staging.hpp"
#include "device/staging_threads.hpp"
#include "discretize/gpu_scores.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/sort_memory.hpp"
#include "discretize/stage_columns.hpp"
#include "discretize/value_order.hpp"
#include "tree/cuda_abi.hpp"
#include "tree/node_list.hpp"

namespace stope::tree {
namespace {

using cuda_abi::Failure;
using cuda_abi::Type;
using device::checked_call;
using discretize::Attribute;
using discretize::DecisionProblem;

// A piece is small because pinned memory takes long to allocate. A batch is larger, because launches over few columns
// leave much of a GPU idle.
constexpr std::int64_t kPieceBytes = std::int64_t{4} << 20, kBatchBytes = std::int64_t{256} << 20;
// Columns of few rows that are sorted like long ones: the sort takes 8 or 16 KB of counters for each.
constexpr std::int64_t kBatchColumns = std::int64_t{1} << 16;
constexpr Type kTypes[] = {Type::float32, Type::float64, Type::code};

const cuda_abi::Functions& functions() {
  return *device::plugin().tree;
}

struct Destroy {
  void operator()(cuda_abi::Session* session) const {
    if (device::cuda_lives()) functions().destroy(session);
  }
};

Type type_of(discretize::AttributeForm form) {
  switch (form) {
    case discretize::AttributeForm::codes: return Type::code;
    case discretize::AttributeForm::float32: return Type::float32;
    case discretize::AttributeForm::float64: break;
  }
  return Type::float64;
}

// The least W that is a score of at least `score`, as doubles compare; or the bits of the least gain.
std::int64_t least_w(double score, cuda_abi::Score by) {
  if (by != cuda_abi::Score::pairs) return score > 0.0 ? std::bit_cast<std::int64_t>(score) : 1;
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

// What a session gets: attributes of each type, and the sizes in which they come.
struct Share {
  std::vector<std::int64_t> of_type[3];
  std::int64_t n_columns = 0, bytes = 0, piece_bytes = 0, batch_bytes = 0;

  const std::vector<std::int64_t>& of(Type type) const { return of_type[static_cast<std::size_t>(type)]; }
};

// The memory of a share on a GPU: orders (tree/cuda/short_tree.hpp, discretize/cuda/long_level.hpp), and batches that
// are filled and sorted in turn. Long columns also need memory for the sort and for a level's counts. The nodes of each
// level add a few bytes per row.
std::int64_t memory_of(const Share& share, std::int64_t n_rows, std::int64_t n_classes, cuda_abi::Score score) {
  const std::int64_t n_wide = std::ssize(share.of(Type::float64)), n_narrow = share.n_columns - n_wide;
  const bool one_batch = share.bytes <= share.batch_bytes &&
                         std::ranges::count_if(share.of_type, [](const auto& of) { return !of.empty(); }) == 1;
  const std::int64_t values = checked::mul(n_rows, share.n_columns), batches = (one_batch ? 1 : 2) * share.batch_bytes;
  if (cuda_abi::is_short(n_rows, score)) return values * (n_rows <= 256 ? 1 : 2) + values / 8 + batches;
  const auto sort = [&](std::int64_t n_columns, std::int64_t value_bytes) {
    const std::int64_t together = std::min(n_columns, share.batch_bytes / (n_rows * value_bytes));
    return together == 0 ? 0 : discretize::sort_bytes(n_rows, together, value_bytes);
  };
  const std::int64_t counts = discretize::search_bytes(n_rows, share.n_columns, n_classes);
  return checked::mul(values, 18) + batches + std::max(sort(n_narrow, 4), sort(n_wide, 8)) + counts +
         discretize::information_bytes(n_rows, score);
}

void require_memory(int gpu, const Share& share, std::int64_t n_rows, std::int64_t n_classes, cuda_abi::Score score,
                    const RunOptions& run) {
  const std::int64_t needed = memory_of(share, n_rows, n_classes, score), most = device::usable_gpu_memory(gpu, run);
  const std::int64_t pinned = cuda_abi::kSlots * share.piece_bytes;
  if (needed <= most && (run.memory_limit <= 0 || pinned <= run.memory_limit)) return;
  throw Error(ErrorCode::out_of_memory,
              "a tree of " + std::to_string(n_rows) + " rows and " + std::to_string(share.n_columns) +
                  " attributes takes " + std::to_string(needed) + " bytes of GPU memory and " + std::to_string(pinned) +
                  " of pinned CPU memory, but only " + std::to_string(most) +
                  " bytes of GPU memory can be used; device cpu takes less");
}

class CudaGrowth {
 public:
  CudaGrowth(const DecisionProblem& problem, const GrowOptions& options, const RunOptions& run)
      : problem_(problem),
        options_(options),
        run_(run),
        score_(discretize::score_of(options.criterion)),
        classes_(problem),
        list_(problem.n_classes(), run) {}

  Grown grow(const std::vector<int>& gpus) {
    const std::int64_t root = list_.add({.n_rows = problem_.n_rows}, problem_.class_totals);
    if (!list_.may_split(root, options_)) return list_.preorder();
    device::note_cuda_use();
    // The tree of a short table takes less time than GPUs would take to exchange results.
    const std::size_t most = cuda_abi::is_short(problem_.n_rows, score_) ? 1 : gpus.size();
    sessions_.resize(std::clamp<std::size_t>(static_cast<std::size_t>(problem_.n_attributes()), 1, most));
    ThreadPool pool(static_cast<int>(sessions_.size()));
    const auto each = [&](const auto& task) {
      pool.parallel_for(std::ssize(sessions_), run_.cancel, [&](std::int64_t i, int) { task(i); });
    };
    each([&](std::int64_t i) { send_all(i, gpus[static_cast<std::size_t>(i)]); });
    for (std::int64_t open_rows = problem_.n_rows; open_rows > 0;) {
      run_.cancel.check();
      open_rows = sessions_.size() == 1 ? grow_alone() : grow_together(each);
      tell_progress(run_, "rows in leaves, on GPUs", problem_.n_rows - open_rows, problem_.n_rows);
    }
    cuda_abi::Splits splits{};
    double sort = 0.0, growth = 0.0;
    for (const auto& session : sessions_) {  // all have the same splits
      checked_call([&](Failure* failure) { return functions().splits(session.get(), &splits, failure); });
      sort += splits.sort_seconds;
      growth += splits.grow_seconds;
    }
    apply(splits);
    Grown grown = list_.preorder();
    grown.report.threads = pool.size();
    grown.report.gpu_seconds = {{"sort", sort}, {"grow", growth}};
    return grown;
  }

 private:
  std::int64_t grow_alone() {
    std::int64_t open_rows = 0;
    checked_call([&](Failure* failure) { return functions().grow(sessions_[0].get(), &open_rows, failure); });
    return open_rows;
  }

  // Grows a level on several GPUs. Each finds the best splits of all nodes by its attributes. The GPU with the best one
  // marks the node's rows.
  template <class Each>
  std::int64_t grow_together(const Each& each) {
    const std::size_t n_gpus = sessions_.size();
    const auto session = [&](std::int64_t i) { return sessions_[static_cast<std::size_t>(i)].get(); };
    std::vector<std::span<const cuda_abi::Split>> found(n_gpus);
    each([&](std::int64_t i) {
      const cuda_abi::Split* best = nullptr;
      std::int64_t n = 0;
      checked_call([&](Failure* failure) { return functions().look(session(i), &best, &n, failure); });
      found[static_cast<std::size_t>(i)] = {best, static_cast<std::size_t>(n)};
    });
    std::vector<cuda_abi::Split> splits(found[0].begin(), found[0].end());
    std::vector<std::size_t> owner(splits.size(), 0);
    for (std::size_t gpu = 1; gpu < n_gpus; ++gpu) {
      for (std::size_t node = 0; node < splits.size(); ++node) {
        const cuda_abi::Split& other = found[gpu][node];
        if (other.attribute < 0 || !is_better(other, splits[node])) continue;
        splits[node] = other;
        owner[node] = gpu;
      }
    }
    Marks all(static_cast<std::size_t>((problem_.n_rows + 31) / 32), splits.size() * classes_.totals.size());
    std::mutex mutex;
    each([&](std::int64_t i) {
      std::vector<std::uint8_t> is_mine(splits.size());
      for (std::size_t node = 0; node < splits.size(); ++node)
        is_mine[node] = owner[node] == static_cast<std::size_t>(i);
      const std::uint32_t *sides = nullptr, *right_counts = nullptr;
      checked_call([&](Failure* failure) {
        return functions().mark(session(i), is_mine.data(), &sides, &right_counts, failure);
      });
      const std::lock_guard lock(mutex);
      all.add(sides, right_counts);
    });
    std::vector<std::int64_t> open_rows(n_gpus);
    each([&](std::int64_t i) {
      checked_call([&](Failure* failure) {
        return functions().move(session(i), splits.data(), all.right_counts.data(), all.sides.data(),
                                &open_rows[static_cast<std::size_t>(i)], failure);
      });
    });
    return open_rows[0];
  }

  static bool is_better(const cuda_abi::Split& a, const cuda_abi::Split& b) {
    return b.attribute < 0 || a.w > b.w || (a.w == b.w && a.attribute < b.attribute);
  }

  // The marks of all GPUs together.
  struct Marks {
    std::vector<std::uint32_t> sides, right_counts;

    Marks(std::size_t n_sides, std::size_t n_counts) : sides(n_sides, 0), right_counts(n_counts, 0) {}
    void add(const std::uint32_t* more_sides, const std::uint32_t* more_counts) {
      for (std::size_t i = 0; i < sides.size(); ++i) sides[i] |= more_sides[i];
      for (std::size_t i = 0; i < right_counts.size(); ++i) right_counts[i] += more_counts[i];
    }
  };

  // Session i gets every n-th attribute, type after type, so that every session gets some.
  Share share_of(std::int64_t i) const {
    Share share;
    std::int64_t n_seen = 0, widest = 0;
    for (const Type type : kTypes) {
      for (std::int64_t a = 0; a < problem_.n_attributes(); ++a) {
        if (type_of(form(a)) != type || n_seen++ % std::ssize(sessions_) != i) continue;
        share.of_type[static_cast<std::size_t>(type)].push_back(a);
        const std::int64_t bytes = discretize::bytes_of(form(a), problem_.n_rows);
        widest = std::max(widest, bytes);
        share.bytes = checked::add(share.bytes, bytes);
        ++share.n_columns;
      }
    }
    share.piece_bytes = std::max(std::min(share.bytes, kPieceBytes), widest);
    const std::int64_t most =
        cuda_abi::is_short(problem_.n_rows, score_) ? kBatchBytes : std::min(kBatchBytes, kBatchColumns * widest);
    share.batch_bytes = std::max(std::min(share.bytes, most), share.piece_bytes);
    return share;
  }

  void send_all(std::int64_t i, int gpu) {
    const Share share = share_of(i);
    auto& session = sessions_[static_cast<std::size_t>(i)];
    require_memory(gpu, share, problem_.n_rows, classes_.n(), score_, run_);
    session.reset(create(gpu, share));
    int slot = 0;
    for (const Type type : kTypes) send(session.get(), type, share.of(type), share.piece_bytes, slot);
  }

  cuda_abi::Session* create(int gpu, const Share& share) const {
    const cuda_abi::Problem problem = {classes_.of_row.data(),
                                       classes_.totals.data(),
                                       problem_.n_rows,
                                       problem_.n_attributes(),
                                       share.n_columns,
                                       classes_.n(),
                                       options_.max_depth.value_or(std::numeric_limits<std::int64_t>::max()),
                                       options_.min_samples_leaf,
                                       least_w(options_.min_score, score_),
                                       score_};
    cuda_abi::Session* made = nullptr;
    checked_call([&](Failure* failure) {
      return functions().create(gpu, &problem, share.piece_bytes, share.batch_bytes, &made, failure);
    });
    return made;
  }

  // Sends the attributes of a type, piece by piece.
  void send(cuda_abi::Session* session, Type type, std::span<const std::int64_t> attributes, std::int64_t piece_bytes,
            int& slot) const {
    if (attributes.empty()) return;
    const std::int64_t bytes = discretize::bytes_of(form(attributes[0]), problem_.n_rows);
    const std::int64_t together = piece_bytes / bytes;
    const int n_gpus = static_cast<int>(sessions_.size());
    const device::StagedSizes sizes{.all = bytes * std::ssize(attributes), .piece = together * bytes};
    const auto piece = [&](std::int64_t number) {
      const std::int64_t begin = number * together;
      return attributes.subspan(static_cast<std::size_t>(begin),
                                static_cast<std::size_t>(std::min(together, std::ssize(attributes) - begin)));
    };
    device::Staging staging(
        sizes, std::max(device::staging_threads(run_, sizes.all) / n_gpus, 1),
        [&](std::int64_t at, std::int64_t n, char* to) { discretize::write_columns(problem_, attributes, at, n, to); });
    const auto allow = [&] {
      void* memory = nullptr;
      checked_call([&](Failure* failure) { return functions().columns(session, slot, &memory, failure); });
      staging.allow_next(static_cast<char*>(memory));
    };
    allow();
    for (std::int64_t number = 0; number < staging.n_pieces(); ++number) {
      run_.cancel.check();
      staging.fill();
      const auto sent = piece(number);
      checked_call([&](Failure* failure) {
        return functions().submit(session, slot, type, sent.data(), std::ssize(sent), failure);
      });
      slot = (slot + 1) % cuda_abi::kSlots;
      if (number + 1 < staging.n_pieces()) allow();
    }
  }

  discretize::AttributeForm form(std::int64_t a) const { return problem_.forms[static_cast<std::size_t>(a)]; }
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
    if (score_ == cuda_abi::Score::pairs) {
      here.w = split.w;
      here.score = static_cast<double>(split.w);
    } else {
      here.score = std::bit_cast<double>(split.w);
    }
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
  cuda_abi::Score score_;
  discretize::PresentClasses classes_;
  NodeList list_;
  std::vector<std::unique_ptr<cuda_abi::Session, Destroy>> sessions_;
};

}  // namespace

const char* why_not_on_gpu(const DecisionProblem& problem) {
  if (problem.weighted) return "GPUs grow trees of rows without weights only";
  if (problem.n_rows > discretize::kMostGpuRows) return "GPUs grow trees of fewer than 2^30 rows";
  return discretize::n_present_classes(problem) > discretize::kMostGpuClasses ? "GPUs take up to 256 classes" : nullptr;
}

Grown grow_cuda(const DecisionProblem& problem, const GrowOptions& options, const RunOptions& run,
                const std::vector<int>& gpus) {
  return CudaGrowth(problem, options, run).grow(gpus);
}

}  // namespace stope::tree
