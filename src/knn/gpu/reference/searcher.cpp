// The plug-in computes distances with the reference formula and hands back those that can still enter a list. The host
// keeps the lists (knn/lists/collector.hpp), so that ties, NaN, radius, exclusion and RapidMiner's heap are decided in
// one place for every back end. Several GPUs share the queries of a block.
#include "knn/gpu/reference/searcher.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "base/thread_pool.hpp"
#include "knn/gpu/call.hpp"
#include "knn/gpu/gpu_table.hpp"
#include "knn/gpu/reference/plan.hpp"
#include "knn/lists/collector.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;

GpuDemand demand_of(const Fitted& fitted, const Plan& plan, bool lent_rows) {
  GpuDemand demand;
  demand.width = fitted.width();
  demand.n_queries = plan.tile_queries;
  demand.n_rows = plan.part_rows;
  demand.n_storage = fitted.kernel().bytes().n_storage;
  demand.terms_per_pair = fitted.kernel().terms_per_pair();
  demand.scratch_doubles = fitted.kernel().scratch_bytes() / static_cast<std::int64_t>(sizeof(double));
  demand.most_tile_queries = environment::count(environment::Variable::tile_queries);
  demand.most_tile_rows = environment::count(environment::Variable::tile_rows);
  demand.most_held_rows = environment::count(environment::Variable::device_rows);
  demand.lent_rows = lent_rows;
  return demand;
}

/// The plug-in's session on one GPU.
class Session {
 public:
  /// `held`: all rows of the table on this GPU, which must outlive the session; null: rows are copied.
  Session(int gpu, const Fitted& fitted, const Plan& plan, const RunOptions& run, const cuda_abi::LentRows* held)
      : held_rows_(held) {
    const MeasureBytes image = fitted.kernel().bytes();
    const std::vector<Attribute>& attributes = fitted.attributes();
    const cuda_abi::Measure measure{image.type,
                                    image.bytes,
                                    image.n_bytes,
                                    image.storage,
                                    image.n_storage,
                                    attributes.data(),
                                    static_cast<std::int64_t>(attributes.size())};
    std::int64_t free = 0;
    checked_call([&](Failure* failure) { return device::plugin().free_memory(gpu, &free, failure); });
    // Another process may take memory that is free now; smaller tiles will then do.
    constexpr int kAttempts = 6;
    budget_ = gpu_budget(free, run.memory_limit);
    for (int attempt = 1;; ++attempt, budget_ /= 2) {
      plan_ = plan_gpu(demand_of(fitted, plan, held != nullptr), budget_);
      Failure failure{};
      cuda_abi::Session* session = nullptr;
      if (cuda_functions().create(gpu, &measure, &plan_.sizes, &session, &failure) == 0) {
        session_.reset(session);
        return;
      }
      if (failure.code != static_cast<std::int32_t>(ErrorCode::out_of_memory) || attempt == kAttempts) {
        device::throw_failure(failure);
      }
    }
  }

  const cuda_abi::Sizes& sizes() const { return plan_.sizes; }
  std::int64_t budget() const { return budget_; }
  std::int64_t bytes() const { return plan_.bytes; }

  void load_queries(const double* rows, std::int64_t n) {
    checked_call([&](Failure* failure) { return cuda_functions().load_queries(session_.get(), rows, n, failure); });
  }

  /// Makes rows [begin, begin + n) of the part the ones to search, and starts to copy the rows after them. That copy
  /// overlaps the search. Returns the buffer with the rows to search.
  std::int64_t load_rows(const TrainPart& part, std::int64_t begin, std::int64_t n, std::int64_t width) {
    const std::int64_t buffer = begin / sizes().held_rows % sizes().n_buffers;
    if (next_.valid()) next_.get();
    copy_rows(part, begin, n, width, buffer);
    const std::int64_t after = begin + n;
    if (after < part.n) {
      const std::int64_t n_after = std::min(sizes().held_rows, part.n - after);
      next_ = std::async(std::launch::async,
                         [=, this] { copy_rows(part, after, n_after, width, (buffer + 1) % sizes().n_buffers); });
    }
    return buffer;
  }

  /// Waits until no copy reads the part any more, so that its memory may be freed.
  void settle() noexcept {
    if (next_.valid()) next_.wait();
    next_ = {};
  }

  void submit(int slot, const cuda_abi::Tile& tile, const std::vector<double>& thresholds) {
    checked_call([&](Failure* failure) {
      return cuda_functions().submit(session_.get(), slot, &tile, thresholds.data(), failure);
    });
  }
  cuda_abi::Survivors collect(int slot) {
    cuda_abi::Survivors survivors{};
    checked_call([&](Failure* failure) { return cuda_functions().collect(session_.get(), slot, &survivors, failure); });
    return survivors;
  }
  void matrix(const cuda_abi::Tile& tile, Quantity quantity, PairOrder order, double* values, std::int64_t ld) {
    checked_call([&](Failure* failure) {
      return cuda_functions().matrix(session_.get(), &tile, quantity == Quantity::similarity,
                                     order == PairOrder::query_first, values, ld, failure);
    });
  }

 private:
  struct Held {
    std::int64_t first = -1, n = 0;  // training rows
  };

  void copy_rows(const TrainPart& part, std::int64_t begin, std::int64_t n, std::int64_t width, std::int64_t buffer) {
    Held& held = held_[buffer];
    if (held.first == part.first + begin && held.n == n) return;
    held = {};
    checked_call([&](Failure* failure) {
      const cuda_abi::LentRows on_gpu{part.on_gpu != nullptr ? part.on_gpu->on_gpu() : nullptr, nullptr, nullptr};
      const cuda_abi::LentRows* const lent = held_rows_ != nullptr ? held_rows_ : &on_gpu;
      if (held_rows_ != nullptr || part.on_gpu != nullptr) {
        return cuda_functions().lend_rows(session_.get(), buffer, lent, part.first + begin, n, failure);
      }
      return cuda_functions().load_rows(session_.get(), buffer, part.rows + begin * width, n, failure);
    });
    held = {part.first + begin, n};
  }

  struct Destroy {
    void operator()(cuda_abi::Session* session) const {
      if (device::cuda_lives()) cuda_functions().destroy(session);
    }
  };
  GpuPlan plan_;
  std::int64_t budget_ = 0;
  const cuda_abi::LentRows* held_rows_;
  std::unique_ptr<cuda_abi::Session, Destroy> session_;
  Held held_[2];
  std::future<void> next_;  // the copy under way
};

/// Settles a session at the end of a scope, also after an error.
struct Settled {
  Session& session;
  ~Settled() { session.settle(); }
};

/// Queries [begin, end) of a block, which one GPU searches.
struct Share {
  std::int64_t begin = 0, end = 0;
};

class GpuReference final : public Searcher, public DistanceMatrix {
 public:
  GpuReference(const Fitted& fitted, const Plan& plan, const RunOptions& run, HeldRows held)
      : fitted_(fitted),
        plan_(plan),
        run_(run),
        held_(std::move(held)),
        gpus_(static_cast<int>(plan.backend.gpus.size())) {
    const int threads = std::max(1, plan.threads / static_cast<int>(plan.backend.gpus.size()));
    for (const int gpu : plan.backend.gpus) {
      const cuda_abi::LentRows* const rows = held_.on_gpus.empty() ? nullptr : &held_.on_gpus[sessions_.size()];
      sessions_.push_back(std::make_unique<Session>(gpu, fitted, plan, run, rows));
      pools_.push_back(std::make_unique<ThreadPool>(threads));
    }
  }

  PartEnd search(const TrainPart& part, const QueryBlock& block, const Selection& selection, Lists& lists) override {
    const std::size_t n_lists = selection.n_lists();
    collectors_.resize(static_cast<std::size_t>(block.n));
    for (std::size_t i = 0; i < collectors_.size(); ++i) {
      collectors_[i].reset(selection);
      collectors_[i].restore(lists, i * n_lists);
    }
    list_too_long_ = false;
    for_each_gpu(block, [&](std::size_t gpu, const Share& share) { search_share(gpu, share, part, block, selection); });
    if (list_too_long_) return PartEnd::list_too_long;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      lists.put(i, collectors_[i / n_lists].take(i % n_lists));
    }
    evaluated_ += block.n * part.n;
    return PartEnd::complete;
  }

  void compute(const TrainPart& part, const QueryBlock& block, Quantity quantity, PairOrder order, double* values,
               std::int64_t ld) override {
    for_each_gpu(block, [&](std::size_t gpu, const Share& share) {
      Session& session = *sessions_[gpu];
      for_each_tile(gpu, share, part, block, session.sizes().tile_rows,
                    [&](const cuda_abi::Tile& tile, std::int64_t first_row, std::int64_t first_query) {
                      session.matrix(tile, quantity, order, values + first_query * ld + first_row, ld);
                      return true;
                    });
    });
    evaluated_ += block.n * part.n;
  }

  void report(SearchReport& report) const override {
    report.evaluated = evaluated_;
    const Session& first = *sessions_.front();
    report.tile_queries = first.sizes().tile_queries;
    report.tile_rows = first.sizes().tile_rows;
    report.part_rows = first.sizes().held_rows;
    report.memory_budget = first.budget();
    report.memory_planned = first.bytes();
  }

 private:
  template <class Work>
  void for_each_gpu(const QueryBlock& block, const Work& work) {
    const auto n = static_cast<std::int64_t>(sessions_.size());
    gpus_.parallel_for(n, run_.cancel, [&](std::int64_t gpu, int) {
      const Share share{block.n * gpu / n, block.n * (gpu + 1) / n};
      if (share.begin < share.end) work(static_cast<std::size_t>(gpu), share);
    });
  }

  /// Visits tiles, rows in order for every query, as long as visit() returns true. visit() gets the tile as the session
  /// counts, its first row in the part and its first query in the block. The first tiles have `first_tile` rows; each
  /// later one has as many as were seen before. Such a tile adds about k rows to the survivors, while all rows of a
  /// large first tile would survive.
  template <class Visit>
  void for_each_tile(std::size_t gpu, const Share& share, const TrainPart& part, const QueryBlock& block,
                     std::int64_t first_tile, const Visit& visit) {
    Session& session = *sessions_[gpu];
    const Settled settled{session};
    const cuda_abi::Sizes& sizes = session.sizes();
    const std::int64_t width = fitted_.width();
    for (std::int64_t group = share.begin; group < share.end; group += sizes.held_queries) {
      const std::int64_t n_group = std::min(sizes.held_queries, share.end - group);
      session.load_queries(block.rows + group * width, n_group);
      for (std::int64_t chunk = 0; chunk < part.n; chunk += sizes.held_rows) {
        const std::int64_t n_chunk = std::min(sizes.held_rows, part.n - chunk);
        const std::int64_t buffer = session.load_rows(part, chunk, n_chunk, width);
        for (std::int64_t row = 0, n_rows = 0; row < n_chunk; row += n_rows) {
          const std::int64_t seen = part.first + chunk + row;
          n_rows = std::min(std::min(sizes.tile_rows, std::max(first_tile, seen)), n_chunk - row);
          for (std::int64_t query = 0; query < n_group; query += sizes.tile_queries) {
            run_.cancel.check();
            const std::int64_t n_queries = std::min(sizes.tile_queries, n_group - query);
            if (!visit(cuda_abi::Tile{buffer, query, n_queries, row, n_rows}, chunk + row, group + query)) return;
          }
        }
      }
    }
  }

  void search_share(std::size_t gpu, const Share& share, const TrainPart& part, const QueryBlock& block,
                    const Selection& selection) {
    constexpr std::int64_t kFirstTile = 256;
    std::int64_t first_tile = kFirstTile;
    for (const std::int64_t k : selection.ks) first_tile = std::max(first_tile, k);
    if (selection.kind == Selection::Kind::radius) first_tile = sessions_[gpu]->sizes().tile_rows;
    std::optional<Flight> flights[cuda_abi::kSlots];
    int slot = 0;
    const auto land = [&](int landing) {
      if (flights[landing].has_value()) offer(gpu, landing, *flights[landing], part, block, selection);
      flights[landing].reset();
    };
    std::vector<double> thresholds;
    const auto visit = [&](const cuda_abi::Tile& tile, std::int64_t first_row, std::int64_t first_query) {
      land(slot);
      if (list_too_long_) return false;
      // Rows of a tile still under way are not in the lists yet. So the threshold is higher, and lets more rows
      // through, never fewer.
      thresholds.clear();
      for (std::int64_t i = 0; i < tile.n_queries; ++i) {
        thresholds.push_back(collectors_[static_cast<std::size_t>(first_query + i)].threshold());
      }
      sessions_[gpu]->submit(slot, tile, thresholds);
      flights[slot] = Flight{first_row, first_query, tile.n_queries};
      slot = (slot + 1) % cuda_abi::kSlots;
      return true;
    };
    for_each_tile(gpu, share, part, block, first_tile, visit);
    for (int i = 0; i < cuda_abi::kSlots; ++i) land((slot + i) % cuda_abi::kSlots);
  }

  // Where a tile under way begins in the part and in the block.
  struct Flight {
    std::int64_t first_row, first_query, n_queries;
  };

  // Tiles land in the order in which they were submitted, and a tile's survivors come in row order, as RapidMiner's
  // heap needs.
  void offer(std::size_t gpu, int slot, const Flight& flight, const TrainPart& part, const QueryBlock& block,
             const Selection& selection) {
    constexpr std::int64_t kQueriesPerTask = 32;
    const cuda_abi::Survivors survivors = sessions_[gpu]->collect(slot);
    const std::int64_t first_row = part.first + flight.first_row;
    const std::int64_t n_tasks = checked::ceil_div(flight.n_queries, kQueriesPerTask);
    pools_[gpu]->parallel_for(n_tasks, run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t end = std::min((task + 1) * kQueriesPerTask, flight.n_queries);
      for (std::int64_t i = task * kQueriesPerTask; i < end; ++i) {
        const std::int64_t query = flight.first_query + i;
        Collector& collector = collectors_[static_cast<std::size_t>(query)];
        const double* distances = survivors.distances + survivors.offsets[i];
        const std::int32_t* rows = survivors.rows + survivors.offsets[i];
        for (std::int32_t j = 0; j < survivors.counts[i]; ++j) {
          const std::int64_t row = first_row + rows[j];
          if (!selection.excludes(block, query, row)) collector.offer({distances[j], row});
        }
        if (collector.too_long()) list_too_long_ = true;
      }
    });
  }

  const Fitted& fitted_;
  const Plan plan_;
  const RunOptions& run_;
  const HeldRows held_;                             // outlives the sessions, which read it
  std::vector<std::unique_ptr<Session>> sessions_;  // per GPU
  std::vector<std::unique_ptr<ThreadPool>> pools_;  // per GPU; they offer its survivors
  ThreadPool gpus_;                                 // one thread per GPU
  std::vector<Collector> collectors_;               // per query of the block
  std::atomic<bool> list_too_long_ = false;         // in the part being searched, on any GPU
  std::int64_t evaluated_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> make_gpu_reference_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run,
                                                      HeldRows held) {
  return std::make_unique<GpuReference>(fitted, plan, run, std::move(held));
}

std::unique_ptr<DistanceMatrix> make_gpu_reference_matrix(const Fitted& fitted, const Plan& plan,
                                                          const RunOptions& run) {
  return std::make_unique<GpuReference>(fitted, plan, run, HeldRows{});
}

}  // namespace stope::knn
