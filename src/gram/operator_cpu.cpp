// One pass over A on the CPU, in panels of rows that stay in the cache between A x and A^T y.
//
// There are two ways through the matrix, with the same sums (gram/shape.hpp). By groups: each task takes a group of
// rows, panel by panel. By columns, where groups are too few to keep every thread busy: all threads share a panel, and
// each takes a range of its columns. They do the second half of one panel together with the first half of the next.
#include "gram/operator_cpu.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/row_sums.hpp"
#include "base/thread_pool.hpp"
#include "base/threads_for.hpp"
#include "device/instances.hpp"
#include "gram/operator_columns.hpp"
#include "gram/shape.hpp"
#include "gram/vectors.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

// Sizes of a panel. It has as many rows as fit a first-level cache, but at least 4, better 8, as x and z pass through
// the cache once per panel. These, and as many rows of the next panel, must fit a second-level cache. If rows are too
// wide for that, A^T y finds nothing in the cache, and a panel has enough rows that x and z do not count.
constexpr std::int64_t kPanelBytes = std::int64_t{32} << 10;
constexpr std::int64_t kCachedPanelBytes = std::int64_t{768} << 10;
constexpr std::int64_t kWidePanelRows = 32;
constexpr std::int64_t kMostPanelRows = 256;
// Rows that must first be written to memory are fetched in portions of that size.
constexpr std::int64_t kFetchBytes = std::int64_t{256} << 10;
// A panel is walked in blocks of that many leaves, whose 16 KB of x or z stay in the first-level cache.
constexpr std::int64_t kBlockLeaves = 4;
// A x of wide rows prefetches that far ahead. Measured with 32 rows of a million floats: 12.3 ms without, 9.6 ms with
// half of it, 8.7 ms with all, 9.3 ms with twice as much; reading alone takes 7.3 ms.
constexpr std::int64_t kDotAhead = 4096;

bool is_wide(std::int64_t row_bytes) {
  return 4 * row_bytes > kCachedPanelBytes;
}

// Threads that a pass with so many vectors is worth.
int worth(const RowSource& rows, std::int64_t n_vectors, const RunOptions& run) {
  constexpr double kSeconds = 0.25e-9;  // per element, from the cache
  const double elements = static_cast<double>(rows.n_rows()) * static_cast<double>(rows.n_columns());
  return threads_for(kSeconds * elements * static_cast<double>(n_vectors),
                     run.threads > 0 ? run.threads : available_threads());
}

std::int64_t panel_rows(std::int64_t row_bytes) {
  if (is_wide(row_bytes)) return kWidePanelRows;
  const std::int64_t least = 8 * row_bytes <= kCachedPanelBytes ? 8 : 4;
  return std::clamp(kPanelBytes / row_bytes / 4 * 4, least, kMostPanelRows);
}

// The work of one pass. Without x, y is given; without z, y is wanted. With a target, y becomes the residual.
struct Pass {
  const double* x = nullptr;  // n_vectors of them, `stride` apart, padded
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
        all_(worth(*rows_, kMostVectors, run)),
        panel_rows_(panel_rows(checked::mul(n_columns_, size_of(rows_->dtype())))),
        spaces_(static_cast<std::size_t>(all_.size())) {
    if (!options.shift.empty()) shift_ = padded_copy(options.shift, n_columns_, {});
  }

  std::int64_t n_rows() const override { return n_rows_; }
  std::int64_t n_columns() const override { return n_columns_; }

  void multiply(std::span<const double> x, std::span<double> y) override {
    check_vector("x", x.size(), n_columns_, 1);
    check_vector("y", y.size(), n_rows_, 1);
    Buffer<double> copy;
    Pass pass;
    pass.x = padded_view(x, n_columns_, scale_, copy);
    pass.y_out = y.data();
    this->pass(pass, nullptr);
    for (double& value : y) value = finished(value);
  }

  void multiply_transposed(std::span<const double> y, std::span<double> z) override {
    check_vector("y", y.size(), n_rows_, 1);
    check_vector("z", z.size(), n_columns_, 1);
    Pass pass;
    pass.y_in = y.data();
    pass.wants_z = true;
    this->pass(pass, z.data());
  }

  void gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) override {
    check_vector("x", x.size(), n_columns_, n_vectors);
    check_vector("z", z.size(), n_columns_, n_vectors);
    Buffer<double> copy;
    Pass pass;
    pass.x = padded_view(x, n_columns_, scale_, copy);
    pass.wants_z = true;
    pass.n_vectors = n_vectors;
    this->pass(pass, z.data());
  }

  void residual(std::span<const double> x, const Target& target, std::span<double> z, std::span<double> r) override {
    check_vector("x", x.size(), n_columns_, 1);
    check_vector("target", target.values.size(), n_rows_, 1);
    if (!r.empty()) check_vector("r", r.size(), n_rows_, 1);
    check_vector("z", z.size(), n_columns_, 1);
    Buffer<double> copy;
    Pass pass;
    pass.x = padded_view(x, n_columns_, scale_, copy);
    pass.target = &target;
    if (!r.empty()) pass.y_out = r.data();
    pass.wants_z = true;
    this->pass(pass, z.data());
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

  Slab slab(const void* values, std::int64_t n, std::int64_t column, std::int64_t n_columns) const {
    const auto* first = static_cast<const char*>(values) + column * size_of(rows_->dtype());
    // Prefetches the next panel while A^T y is computed from this one; for wide rows, the next block. Nothing is read
    // behind the last one, and a prefetch beyond the memory does no harm.
    const std::int64_t element = size_of(rows_->dtype());
    const bool wide = is_wide(n_columns_ * element);
    const std::int64_t block = kBlockLeaves * kLeafColumns * element;
    const std::int64_t panel = rows_->in_place() ? n * rows_->row_stride() * element : 0;
    return {first,
            rows_->row_stride(),
            n,
            n_columns,
            shift_.empty() ? nullptr : shift_.data() + column,
            wide ? kDotAhead : 0,
            wide ? block : panel};
  }

  void dot(const Slab& slab, const double* x, double* sums) const {
    (rows_->dtype() == ElementType::float32 ? kernels_.of_float.dot : kernels_.of_double.dot)(slab, x, sums);
  }
  void add(const Slab& slab, const double* y, double* z) const {
    (rows_->dtype() == ElementType::float32 ? kernels_.of_float.add : kernels_.of_double.add)(slab, y, z);
  }

  // Writes the leaves [leaf, end) of each row's product with x to sums[row * n_leaves + leaf].
  void dot_leaves(const void* values, std::int64_t n, std::int64_t leaf, std::int64_t end, const double* x,
                  double* sums) const {
    const std::int64_t leaves = n_leaves(n_columns_);
    for (std::int64_t begin = leaf; begin < end; begin += kBlockLeaves) {
      const std::int64_t column = begin * kLeafColumns;
      const std::int64_t width = std::min(std::min(end - begin, kBlockLeaves) * kLeafColumns, n_columns_ - column);
      if (width == n_columns_) return dot(slab(values, n, 0, width), x, sums);
      // The leaves that several rows have in a block do not lie side by side in `sums`.
      double block[kMostPanelRows * kBlockLeaves];
      dot(slab(values, n, column, width), x + column, block);
      const std::int64_t here = n_leaves(width);
      for (std::int64_t r = 0; r < n; ++r) std::copy_n(block + r * here, here, sums + r * leaves + begin);
    }
  }

  void add_leaves(const void* values, std::int64_t n, std::int64_t leaf, std::int64_t end, const double* y, double* z,
                  bool fresh) const {
    for (std::int64_t begin = leaf; begin < end; begin += kBlockLeaves) {
      const std::int64_t column = begin * kLeafColumns;
      const std::int64_t width = std::min(std::min(end - begin, kBlockLeaves) * kLeafColumns, n_columns_ - column);
      Slab rows = slab(values, n, column, width);
      rows.fresh = fresh;
      add(rows, y, z + column);
    }
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
        dot_leaves(values, n, 0, leaves, pass.x + v * stride_, space.sums.data());
        take_y(pass, v, first, n, space.sums.data(), space.y.data());
      }
      if (pass.wants_z) add_leaves(values, n, 0, leaves, y, z + v * stride_, fresh);
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
  void rows_by_all(const Pass& pass, std::int64_t begin, std::int64_t end, double* z) {
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
          add_leaves(before.values, before.n, from, to, y, z + v * stride_, false);
        }
        for (std::int64_t v = 0; v < pass.n_vectors && panel.n > 0 && pass.x != nullptr; ++v) {
          dot_leaves(panel.values, panel.n, from, to, pass.x + v * stride_, shared_sums(v));
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

  void pass(const Pass& pass, double* z) {
    pool_ = worth(*rows_, pass.n_vectors, run_) > 1 ? &all_ : &alone_;
    if (!pass.wants_z) {
      only_y(pass);
    } else {
      sums_of_groups(pass, z);
    }
    ++passes_;
  }

  void only_y(const Pass& pass) {
    if (by_columns(n_groups_)) return rows_by_all(pass, 0, n_rows_, nullptr);
    const std::int64_t rows = fetch_rows();
    pool_->parallel_for(checked::ceil_div(n_rows_, rows), run_.cancel, [&](std::int64_t task, int worker) {
      rows_by_one(pass, task * rows, std::min(n_rows_, (task + 1) * rows), space(static_cast<std::size_t>(worker)),
                  nullptr, [] {});
    });
  }

  // Groups that a task adds in its own cache, a power of two. With little memory there is none for trees.
  std::int64_t groups_per_task(std::int64_t at_once) const {
    constexpr std::int64_t kTasksPerThread = 8;
    if (at_once < n_groups_) return 1;
    const std::int64_t tasks = pool_->size() == 1 ? 1 : kTasksPerThread * pool_->size();
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(n_groups_ / tasks, 1));
    return static_cast<std::int64_t>(tasks == 1 ? std::bit_ceil(most) : std::bit_floor(most));
  }

  void sums_of_groups(const Pass& pass, double* z) {
    const std::int64_t size = pass.n_vectors * stride_;
    const std::int64_t at_once = groups_at_once(checked::mul(size, 8));
    const bool columns = by_columns(at_once);
    const std::int64_t per_task = columns ? 1 : groups_per_task(at_once);
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
          double* const mine = sums + (group - first) * size;
          std::fill_n(mine, size, 0.0);
          rows_by_all(pass, group_begin(group, n_rows_, n_groups_), group_begin(group + 1, n_rows_, n_groups_), mine);
        }
      } else {
        pool_->parallel_for(n_tasks, run_.cancel, [&](std::int64_t task, int worker) {
          const std::int64_t group = first + task * per_task;
          groups_by_one(pass, group, std::min(group + per_task, first + n), space(static_cast<std::size_t>(worker)),
                        sums + task * size);
        });
      }
      add_groups(sums, n_tasks, size);
      if (n == n_groups_) return write_z(sums, pass.n_vectors, z);
      tree.push(sums);
    }
    write_z(tree.finish(), pass.n_vectors, z);
  }

  // Adds n groups into the first by the aligned tree. Tasks take ranges of columns that stay in the cache for all
  // groups.
  void add_groups(double* sums, std::int64_t n, std::int64_t size) {
    constexpr std::int64_t kRange = 64;
    pool_->parallel_for(checked::ceil_div(size, kRange), run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kRange, width = std::min(kRange, size - begin);
      for (std::int64_t step = 1; step < n; step *= 2) {
        for (std::int64_t i = 0; i + step < n; i += 2 * step) {
          double* const to = sums + i * size + begin;
          const double* const from = to + step * size;
          kernels_.add_sums(to, from, width);
        }
      }
    });
  }

  void write_z(const double* sums, std::int64_t n_vectors, double* z) const {
    for (std::int64_t v = 0; v < n_vectors; ++v) {
      for (std::int64_t c = 0; c < n_columns_; ++c) {
        const double sum = sums[v * stride_ + c];
        z[v * n_columns_ + c] = finished(scale_.empty() ? sum : sum * scale_[static_cast<std::size_t>(c)]);
      }
    }
  }

  std::shared_ptr<const RowSource> rows_;
  const RunOptions run_;
  const device::BackendChoice backend_;
  const Kernels& kernels_;
  const std::int64_t n_rows_, n_columns_, stride_, n_groups_;
  const std::vector<double> scale_;
  Buffer<double> shift_;
  ThreadPool all_, alone_{1};  // small passes take one thread: waking others takes longer
  ThreadPool* pool_ = &all_;   // of the pass
  const std::int64_t panel_rows_;
  std::vector<WorkSpace> spaces_;
  WorkSpace turn_spaces_[2];
  Buffer<double> sums_;  // sums of groups
  std::int64_t passes_ = 0;
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
