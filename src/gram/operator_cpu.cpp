// One pass over A on the CPU, in panels of rows that stay in the cache between A x and A^T y.
//
// There are two ways through the matrix, with the same sums (gram/shape.hpp). By groups: each task takes a group of
// rows, panel by panel. By columns, where groups are too few to keep every thread busy: all threads share a panel, and
// each takes a range of its columns. They do the second half of one panel together with the first half of the next.
#include "gram/operator_cpu.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/row_sums.hpp"
#include "base/thread_pool.hpp"
#include "base/threads_for.hpp"
#include "device/instances.hpp"
#include "gram/operator_columns.hpp"
#include "gram/panels.hpp"
#include "gram/shape.hpp"
#include "gram/vectors.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

// Rows that must first be written to memory are fetched in portions of that size.
constexpr std::int64_t kFetchBytes = std::int64_t{256} << 10;

constexpr double kSecondsPerElement = 0.25e-9;   // of one thread and vector, from memory; from a cache it is half
constexpr std::chrono::microseconds kAwake{50};  // longer than what a program does between two products of an iteration

double seconds_of(const RowSource& rows, std::int64_t n_vectors) {
  return kSecondsPerElement * static_cast<double>(rows.n_rows()) * static_cast<double>(rows.n_columns()) *
         static_cast<double>(n_vectors);
}

// Threads that the largest pass is worth.
int most_threads(const RowSource& rows, const RunOptions& run) {
  return threads_for(seconds_of(rows, kMostVectors), run.threads > 0 ? run.threads : available_threads());
}

// Whether no number of `a` is one of `b`: then results may be written while operands are still read.
bool are_apart(std::span<const double> a, std::span<const double> b) {
  const std::less_equal<const double*> before;
  return before(a.data() + a.size(), b.data()) || before(b.data() + b.size(), a.data());
}

// The work of one pass. Without x, y is given; without z, y is wanted. With a target, y becomes the residual.
struct Pass {
  std::span<const double> operand;  // as the caller gave it
  const double* x = nullptr;        // n_vectors of them, `stride` apart, padded
  const double* y_in = nullptr;
  double* y_out = nullptr;
  const Target* target = nullptr;
  bool wants_z = false;
  std::int64_t n_vectors = 1;
};

// The memory of one thread.
struct WorkSpace {
  Buffer<char> fetched;  // rows that are not in place
  Buffer<double> sums;   // sums of leaves: [row][leaf]
  Buffer<double> y;      // [vector][row of the panel]
  Buffer<double> group;  // sums of a group
  std::unique_ptr<SumTree> groups;
};

class CpuOperator final : public Operator {
 public:
  CpuOperator(std::shared_ptr<const RowSource> rows, const GramOptions& options, const RunOptions& run,
              const device::BackendChoice& backend)
      : rows_(std::move(rows)),
        run_(run),
        backend_(backend),
        kernels_(kernels_of(backend.backend)),
        n_rows_(rows_->n_rows()),
        n_columns_(rows_->n_columns()),
        stride_(padded(n_columns_)),
        n_groups_(gram::n_groups(n_rows_, n_columns_)),
        scale_(options.scale),
        all_(most_threads(*rows_, run), kAwake),
        panels_(*rows_, kernels_,
                options.shift.empty() ? Buffer<double>() : padded_copy(options.shift, n_columns_, {})),
        panel_rows_(panels_.n_rows()),
        spaces_(static_cast<std::size_t>(all_.size())) {}

  std::int64_t n_rows() const override { return n_rows_; }
  std::int64_t n_columns() const override { return n_columns_; }

  void multiply(std::span<const double> x, std::span<double> y) override {
    check_vector("x", x.size(), n_columns_, 1);
    check_vector("y", y.size(), n_rows_, 1);
    Buffer<double> copy;
    Pass pass;
    pass.operand = x;
    pass.x = padded_view(x, n_columns_, scale_, copy);
    pass.y_out = y.data();
    this->pass(pass, {});
    for (double& value : y) value = finished(value);
  }

  void multiply_transposed(std::span<const double> y, std::span<double> z) override {
    check_vector("y", y.size(), n_rows_, 1);
    check_vector("z", z.size(), n_columns_, 1);
    Pass pass;
    pass.operand = y;
    pass.y_in = y.data();
    pass.wants_z = true;
    this->pass(pass, z);
  }

  void gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) override {
    check_vector("x", x.size(), n_columns_, n_vectors);
    check_vector("z", z.size(), n_columns_, n_vectors);
    Buffer<double> copy;
    Pass pass;
    pass.operand = x;
    pass.x = padded_view(x, n_columns_, scale_, copy);
    pass.wants_z = true;
    pass.n_vectors = n_vectors;
    this->pass(pass, z);
  }

  void residual(std::span<const double> x, const Target& target, std::span<double> z, std::span<double> r) override {
    check_vector("x", x.size(), n_columns_, 1);
    check_vector("target", target.values.size(), n_rows_, 1);
    if (!r.empty()) check_vector("r", r.size(), n_rows_, 1);
    check_vector("z", z.size(), n_columns_, 1);
    Buffer<double> copy;
    Pass pass;
    pass.operand = x;
    pass.x = padded_view(x, n_columns_, scale_, copy);
    pass.target = &target;
    if (!r.empty()) pass.y_out = r.data();
    pass.wants_z = true;
    this->pass(pass, z);
  }

  GramReport report() const override {
    GramReport report;
    report.backend = kernels_name(backend_);
    report.reason = kernels_reason(backend_);
    report.method = (by_columns(1) ? "threads share panels of " : "groups of rows, panels of ") +
                    std::to_string(panel_rows_) + " rows; " + std::to_string(n_groups_) + " groups";
    report.threads = pool_->size();
    report.passes = passes_;
    report.bytes = passes_ * n_rows_ * n_columns_ * size_of(rows_->dtype());
    return report;
  }

 private:
  // Groups are equally long: with four for each thread, no thread waits long for the last.
  bool by_columns(std::int64_t n_at_once) const {
    constexpr std::int64_t kGroupsPerThread = 4, kLeastLeaves = 4;
    if (pool_->size() == 1 || n_leaves(n_columns_) < kLeastLeaves * pool_->size()) return false;
    return n_groups_ < kGroupsPerThread * pool_->size() || n_at_once < pool_->size();
  }

  // Rows that one fetch returns.
  std::int64_t fetch_rows() const {
    if (rows_->in_place()) return panel_rows_;
    const std::int64_t row_bytes = rows_->row_stride() * size_of(rows_->dtype());
    return std::max(panel_rows_, kFetchBytes / row_bytes / panel_rows_ * panel_rows_);
  }
  std::int64_t space_bytes() const {
    const std::int64_t fetched =
        rows_->in_place() ? 0 : checked::mul(fetch_rows(), rows_->row_stride() * size_of(rows_->dtype()));
    return checked::add(fetched, checked::mul(panel_rows_, n_leaves(n_columns_) + kMostVectors) * 8);
  }
  WorkSpace& space(std::size_t number) {
    WorkSpace& space = spaces_[number];
    if (space.y.empty()) {
      if (!rows_->in_place()) {
        space.fetched = Buffer<char>(fetch_rows() * rows_->row_stride() * size_of(rows_->dtype()));
      }
      space.sums = Buffer<double>(panel_rows_ * n_leaves(n_columns_));
      space.y = Buffer<double>(panel_rows_ * kMostVectors);
    }
    return space;
  }

  // Adds the sums of leaves to y. It is only called where y is not given.
  void take_y(const Pass& pass, std::int64_t v, std::int64_t first, std::int64_t n, double* sums, double* y) const {
    const std::int64_t leaves = n_leaves(n_columns_);
    for (std::int64_t r = 0; r < n; ++r) y[r] = tree_sum(sums + r * leaves, leaves) + 0.0;
    if (pass.target != nullptr) {
      for (std::int64_t r = 0; r < n; ++r) y[r] = finished(y[r]);
      subtract_from(*pass.target, first, {y, static_cast<std::size_t>(n)});
    }
    if (pass.y_out != nullptr) std::copy_n(y, n, pass.y_out + v * n_rows_ + first);
  }

  // Computes a panel on one thread; `values` are its rows [first, first + n). A fresh z counts as zeros.
  void whole_panel(const Pass& pass, const void* values, std::int64_t first, std::int64_t n, WorkSpace& space,
                   double* z, bool fresh) const {
    const std::int64_t leaves = n_leaves(n_columns_);
    for (std::int64_t v = 0; v < pass.n_vectors; ++v) {
      const double* y = pass.x == nullptr ? pass.y_in + first : space.y.data();
      if (pass.x != nullptr) {
        panels_.dot(values, n, 0, leaves, pass.x + v * stride_, space.sums.data());
        take_y(pass, v, first, n, space.sums.data(), space.y.data());
      }
      if (pass.wants_z) panels_.add(values, n, 0, leaves, y, z + v * stride_, fresh, Sums::go_on);
    }
  }

  // Computes the rows [begin, end) on one thread. Where z is wanted it has the sums of a group each time end_of_group()
  // is called.
  template <class End>
  void rows_by_one(const Pass& pass, std::int64_t begin, std::int64_t end, WorkSpace& space, double* z,
                   const End& end_of_group) const {
    const std::int64_t row_bytes = rows_->row_stride() * size_of(rows_->dtype());
    const std::int64_t at_once = rows_->in_place() ? end - begin : fetch_rows();
    const GroupRows groups = GroupRows::of(n_rows_, n_groups_);
    const auto group_end = [&](std::int64_t row) {
      return pass.wants_z ? groups.begin(groups.group_of(row) + 1) : end;
    };
    std::int64_t last = group_end(begin);
    bool fresh = true;
    for (std::int64_t first = begin; first < end; first += at_once) {
      const std::int64_t n = std::min(at_once, end - first);
      const auto* values = static_cast<const char*>(rows_->rows(first, n, space.fetched.data()));
      for (std::int64_t row = first; row < first + n;) {
        run_.cancel.check();
        const std::int64_t here = std::min({panel_rows_, first + n - row, last - row});
        whole_panel(pass, values + (row - first) * row_bytes, row, here, space, z, fresh);
        row += here;
        fresh = row == last;
        if (!fresh) continue;
        end_of_group();
        if (row < end) last = group_end(row);
      }
    }
  }

  // Computes the aligned tree of the groups [group, end) on one thread.
  void groups_by_one(const Pass& pass, std::int64_t group, std::int64_t end, WorkSpace& space, double* z) const {
    const std::int64_t size = pass.n_vectors * stride_;
    const std::int64_t first = group_begin(group, n_rows_, n_groups_), last = group_begin(end, n_rows_, n_groups_);
    if (end - group == 1) return rows_by_one(pass, first, last, space, z, [] {});
    if (space.group.size() != size) {
      space.group = Buffer<double>(size);
      std::fill(space.group.begin(), space.group.end(), 0.0);
      space.groups = std::make_unique<SumTree>(size, kernels_.add_sums);
    }
    space.groups->clear();
    rows_by_one(pass, first, last, space, space.group.data(), [&] { space.groups->push(space.group.data()); });
    std::copy_n(space.groups->finish(), size, z);
  }

  // A panel that all threads share.
  struct Panel {
    const void* values = nullptr;
    std::int64_t first = 0, n = 0;
  };

  // Computes the rows [begin, end) on all threads. One round adds what y of one panel gives, and multiplies the next.
  // `then`: what the sums in z are behind the last row.
  void rows_by_all(const Pass& pass, std::int64_t begin, std::int64_t end, double* z, Sums then) {
    const std::int64_t leaves = n_leaves(n_columns_);
    const std::int64_t n_tasks = std::min<std::int64_t>(leaves, std::int64_t{4} * pool_->size());
    Panel before;
    for (std::int64_t first = begin, turn = 0; first < end || before.n > 0; first += panel_rows_, ++turn) {
      // The rows of two turns are in use at a time, but sums and y of only one.
      Panel panel;
      if (first < end) {
        panel.first = first;
        panel.n = std::min(panel_rows_, end - first);
        panel.values = rows_->rows(first, panel.n, turn_space(turn).fetched.data());
      }
      pool_->parallel_for(n_tasks, run_.cancel, [&](std::int64_t task, int) {
        const std::int64_t from = leaves * task / n_tasks, to = leaves * (task + 1) / n_tasks;
        for (std::int64_t v = 0; v < pass.n_vectors && before.n > 0 && pass.wants_z; ++v) {
          const double* y = pass.x != nullptr ? shared_y(v) : pass.y_in + before.first;
          panels_.add(before.values, before.n, from, to, y, z + v * stride_, before.first == begin,
                      panel.n == 0 ? then : Sums::go_on);
        }
        for (std::int64_t v = 0; v < pass.n_vectors && panel.n > 0 && pass.x != nullptr; ++v) {
          panels_.dot(panel.values, panel.n, from, to, pass.x + v * stride_, shared_sums(v));
        }
      });
      for (std::int64_t v = 0; v < pass.n_vectors && panel.n > 0 && pass.x != nullptr; ++v) {
        take_y(pass, v, panel.first, panel.n, shared_sums(v), shared_y(v));
      }
      before = panel;
    }
  }
  WorkSpace& turn_space(std::int64_t turn) {
    if (turn_spaces_[0].sums.empty()) {
      for (WorkSpace& space : turn_spaces_) {
        if (!rows_->in_place()) {
          space.fetched = Buffer<char>(panel_rows_ * rows_->row_stride() * size_of(rows_->dtype()));
        }
      }
      turn_spaces_[0].y = Buffer<double>(panel_rows_ * kMostVectors);
      turn_spaces_[0].sums = Buffer<double>(panel_rows_ * n_leaves(n_columns_) * kMostVectors);
    }
    return turn_spaces_[turn % 2];
  }
  double* shared_sums(std::int64_t v) { return turn_spaces_[0].sums.data() + v * panel_rows_ * n_leaves(n_columns_); }
  double* shared_y(std::int64_t v) { return turn_spaces_[0].y.data() + v * panel_rows_; }

  // Groups whose sums are in memory at the same time: all, or else a power of two.
  std::int64_t groups_at_once(std::int64_t group_bytes) const {
    const std::int64_t budget = memory_budget(run_);
    const std::int64_t spaces = checked::mul(pool_->size(), space_bytes());
    if (checked::add(checked::mul(n_groups_, group_bytes), spaces) <= budget) return n_groups_;
    const std::int64_t tree = checked::mul(SumTree::most_levels(n_groups_), group_bytes);
    const std::int64_t least = checked::add(checked::add(tree, spaces), group_bytes);
    if (least > budget) {
      refuse_memory("the gram operator's sums of " + std::to_string(n_columns_) + " columns need", least, budget);
    }
    const std::int64_t fit = 1 + (budget - least) / group_bytes;
    return std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(fit)) - 1);
  }

  void pass(const Pass& pass, std::span<double> z) {
    pool_ = is_worth_threads(pass.n_vectors) ? &all_ : &alone_;
    if (!pass.wants_z) {
      only_y(pass);
    } else {
      sums_of_groups(pass, z);
    }
    ++passes_;
    n_vectors_ += pass.n_vectors;
  }

  // One small pass does not pay for waking a thread. Where they follow one another, threads are awake already
  // (base/thread_pool.hpp).
  bool is_worth_threads(std::int64_t n_vectors) const {
    constexpr double kLeastSeconds = 10e-6;  // of each thread, so that handing over is not what takes the time
    const double seconds = seconds_of(*rows_, n_vectors);
    return threads_for(seconds, all_.size()) > 1 ||
           (n_vectors_ >= kMostVectors && seconds > kLeastSeconds * all_.size());
  }

  void only_y(const Pass& pass) {
    if (by_columns(n_groups_)) return rows_by_all(pass, 0, n_rows_, nullptr, Sums::go_on);
    const std::int64_t rows = fetch_rows();
    pool_->parallel_for(checked::ceil_div(n_rows_, rows), run_.cancel, [&](std::int64_t task, int worker) {
      rows_by_one(pass, task * rows, std::min(n_rows_, (task + 1) * rows), space(static_cast<std::size_t>(worker)),
                  nullptr, [] {});
    });
  }

  // Groups that a task adds in its own cache, a power of two. With little memory there is none for trees.
  std::int64_t groups_per_task(std::int64_t at_once, std::int64_t n_vectors) const {
    constexpr double kSecondsOfTask = 10e-6;
    constexpr std::int64_t kMostTasksPerThread = 8;
    if (at_once < n_groups_) return 1;
    const double parts = seconds_of(*rows_, n_vectors) / (kSecondsOfTask * pool_->size());
    const auto tasks_per_thread = static_cast<std::int64_t>(std::clamp(parts, 1.0, double{kMostTasksPerThread}));
    const std::int64_t tasks = pool_->size() == 1 ? 1 : tasks_per_thread * pool_->size();
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(n_groups_ / tasks, 1));
    return static_cast<std::int64_t>(tasks == 1 ? std::bit_ceil(most) : std::bit_floor(most));
  }

  void sums_of_groups(const Pass& pass, std::span<double> z) {
    const std::int64_t size = pass.n_vectors * stride_;
    const std::int64_t at_once = groups_at_once(checked::mul(size, 8));
    const bool columns = by_columns(at_once);
    if (columns && n_groups_ == 1 && scale_.empty() && stride_ == n_columns_ && are_apart(pass.operand, z)) {
      return rows_by_all(pass, 0, n_rows_, z.data(), Sums::are_complete);
    }
    const std::int64_t per_task = columns ? 1 : groups_per_task(at_once, pass.n_vectors);
    // The memory is kept. An iteration calls again, and touching new memory takes as long as a small matrix.
    const std::int64_t held = checked::ceil_div(at_once, per_task) * size;
    if (sums_.size() < held) {
      sums_ = {};
      sums_ = Buffer<double>(held);
      std::fill(sums_.begin(), sums_.end(), 0.0);  // padding is added, too
    }
    double* const sums = sums_.data();
    SumTree tree(size, kernels_.add_sums);
    for (std::int64_t first = 0; first < n_groups_; first += at_once) {
      const std::int64_t n = std::min(at_once, n_groups_ - first), n_tasks = checked::ceil_div(n, per_task);
      if (columns) {
        for (std::int64_t group = first; group < first + n; ++group) {
          rows_by_all(pass, group_begin(group, n_rows_, n_groups_), group_begin(group + 1, n_rows_, n_groups_),
                      sums + (group - first) * size, Sums::go_on);
        }
      } else {
        pool_->parallel_for(n_tasks, run_.cancel, [&](std::int64_t task, int worker) {
          const std::int64_t group = first + task * per_task;
          groups_by_one(pass, group, std::min(group + per_task, first + n), space(static_cast<std::size_t>(worker)),
                        sums + task * size);
        });
      }
      add_groups(pass, sums, n_tasks, n == n_groups_ ? z.data() : nullptr);
      if (n == n_groups_) return;
      tree.push(sums);
    }
    const double* const root = tree.finish();
    for (std::int64_t v = 0; v < pass.n_vectors; ++v) {
      write_z(root + v * stride_, 0, n_columns_, z.data() + v * n_columns_);
    }
  }

  // Adds n groups into the first by the aligned tree, and writes the result to z unless that is null. Tasks take ranges
  // of columns that stay in the cache for all groups.
  void add_groups(const Pass& pass, double* sums, std::int64_t n, double* z) {
    constexpr std::int64_t kCached = 8192, kLeast = 64, kMost = 4096;  // numbers
    const std::int64_t size = pass.n_vectors * stride_;
    const std::int64_t range = std::clamp(kCached / n / kLeast * kLeast, kLeast, kMost);
    const std::int64_t ranges = checked::ceil_div(stride_, range);
    pool_->parallel_for(pass.n_vectors * ranges, run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t v = task / ranges, column = task % ranges * range;
      double* const mine = sums + v * stride_ + column;
      for (std::int64_t step = 1; step < n; step *= 2) {
        for (std::int64_t i = 0; i + step < n; i += 2 * step) {
          kernels_.add_sums(mine + i * size, mine + (i + step) * size, std::min(range, stride_ - column));
        }
      }
      if (z != nullptr) write_z(mine, column, std::min(range, n_columns_ - column), z + v * n_columns_ + column);
    });
  }

  void write_z(const double* sums, std::int64_t column, std::int64_t n, double* z) const {
    const double* const scale = scale_.empty() ? nullptr : scale_.data() + column;
    for (std::int64_t c = 0; c < n; ++c) z[c] = finished(scale == nullptr ? sums[c] : sums[c] * scale[c]);
  }

  std::shared_ptr<const RowSource> rows_;
  const RunOptions run_;
  const device::BackendChoice backend_;
  const Kernels& kernels_;
  const std::int64_t n_rows_, n_columns_, stride_, n_groups_;
  const std::vector<double> scale_;
  ThreadPool all_, alone_{1};  // a small pass takes one thread: waking others takes longer
  ThreadPool* pool_ = &all_;   // of the pass
  const Panels panels_;
  const std::int64_t panel_rows_;
  std::vector<WorkSpace> spaces_;
  WorkSpace turn_spaces_[2];
  Buffer<double> sums_;  // sums of groups
  std::int64_t passes_ = 0, n_vectors_ = 0;
};

}  // namespace

const Kernels& kernels_of(device::Backend backend) {
  constexpr device::Instances kInstances = {&scalar::kKernels, &avx2::kKernels, &avx512::kKernels};
  return backend == device::Backend::reference ? reference::kKernels : *kInstances.of(backend);
}

// A product of floats and doubles has no use for the byte instructions of avx512vnni.
std::string kernels_name(const device::BackendChoice& backend) {
  return backend.backend == device::Backend::avx512vnni ? "avx512" : backend.name;
}

std::string kernels_reason(const device::BackendChoice& backend) {
  return backend.forced ? backend.reason : "the widest vectors that this CPU has";
}

std::unique_ptr<Operator> make_cpu_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                            const RunOptions& run, const device::BackendChoice& backend) {
  if (suits_column_operator(*rows)) return make_column_operator(std::move(rows), options, run, backend);
  return std::make_unique<CpuOperator>(std::move(rows), options, run, backend);
}

}  // namespace stope::gram
