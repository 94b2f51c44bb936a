#include "knn/search/search.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/environment.hpp"
#include "base/huge_pages.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "knn/engine/pipeline.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/gpu/caller_lists.hpp"
#include "knn/gpu/caller_rows.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/lists/collector.hpp"
#include "knn/search/auto_device.hpp"
#include "knn/search/block_feeder.hpp"
#include "knn/search/groups.hpp"
#include "knn/search/make_engine.hpp"
#include "knn/search/make_plan.hpp"
#include "knn/search/method.hpp"
#include "knn/search/queries.hpp"
#include "knn/vote/ballot.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

// A list within a radius has no bound but n, and no memory would hold n rows for many queries. The first plan has room
// for kFirstLongest rows a list. Where that turns out to be too few, the next plan has room for more.
constexpr std::int64_t kFirstLongest = 1024, kLongestGrowth = 8;

std::int64_t list_bytes(const Selection& selection, bool pipelined, std::int64_t n_rows) {
  // A candidate and its copy in the result are 16 bytes each.
  constexpr std::int64_t kBytesPerCandidate = 2 * static_cast<std::int64_t>(sizeof(double) + sizeof(std::int64_t));
  if (selection.kind == Selection::Kind::radius) {
    return checked::mul(std::min(pipelined ? selection.places : selection.longest, n_rows), kBytesPerCandidate);
  }
  std::int64_t candidates = 0;
  for (const std::int64_t k : selection.ks) candidates = checked::add(candidates, std::min(k, n_rows));
  return checked::mul(candidates, kBytesPerCandidate);
}

std::int64_t filter_columns(const Fitted& fitted, const Method& method) {
  if (!properties(method.engine).filters) return 0;
  return fitted.filters().map(fitted, *fitted.kernel().filter_form())->n_columns();
}

// Searches block by block. Where an engine gives up, the next one goes on from next_.
class BlockedSearch {
 public:
  BlockedSearch(const Fitted& fitted, const QuerySource& queries, Groups groups, const SearchJob& job,
                const RunOptions& run)
      : fitted_(fitted),
        run_(run),
        queries_(queries),
        n_queries_(queries.n_rows()),
        selection_(job.selection),
        outcome_sink_(job.outcome_sink),
        arrays_(job.arrays),
        groups_(std::move(groups)) {
    if (selection_.exclude_self) check_own_rows(job.first_query);
    if (!groups_.train.empty()) selection_.train_groups = groups_.train.data();
    if (selection_.kind == Selection::Kind::radius) {
      selection_.longest = kFirstLongest;
      selection_.places = fitted.history().places(selection_.radius);
    }
    fitted.check_some_rows();
  }

  using Sink = std::function<void(std::vector<Neighbors>&)>;

  /// Leaves memory to the next search.
  ~BlockedSearch() {
    if (groups_.given) fitted_.history().keep_numbers(std::move(groups_.train));
  }
  BlockedSearch(const BlockedSearch&) = delete;
  BlockedSearch& operator=(const BlockedSearch&) = delete;

  SearchReport search(const Sink& sink) {
    device::BackendChoice backend = backend_for(fitted_, selection_, n_queries_, run_);
    if (backend.backend == device::Backend::cuda) device::note_cuda_use();
    try {
      return search_on(backend, sink);
    } catch (const Error& error) {
      const std::string why = device::give_up_gpu(error, !backend.automatic);
      backend = device::choose_cpu_backend("");
      backend.device_reason = why;
    }
    return search_on(backend, sink);
  }

 private:
  void check_own_rows(std::int64_t first_query) {
    const std::int64_t n = fitted_.n_rows();
    if (first_query < -1) {
      throw Error(ErrorCode::invalid_argument, "first_query " + std::to_string(first_query) + " is less than -1",
                  {.option = "first_query"});
    }
    if (first_query < 0 ? n_queries_ == n : first_query <= n - n_queries_) {
      selection_.first_query = std::max<std::int64_t>(first_query, 0);
      return;
    }
    throw Error(
        ErrorCode::invalid_argument,
        "excluding a row itself needs " +
            (first_query < 0 ? std::string("the training table as queries")
                             : "training rows as queries, the first of them row " + std::to_string(first_query)) +
            ": " + counted(n_queries_, "query row") + ", " + counted(n, "training row"),
        {.option = "exclude_self"});
  }

  // Searches from the first query that has no result yet.
  SearchReport search_on(const device::BackendChoice& backend, const Sink& sink) {
    if (backend.backend == device::Backend::cuda) selection_.group_rows = usual_group_rows(groups_, run_);
    Method method = choose_method(fitted_, selection_, n_queries_, backend, run_);
    if (const std::optional<SearchReport> report = search_in_pipeline(backend, method, sink)) return *report;
    SearchReport total;
    for (;;) {
      const Plan plan = make_plan(demand(method, backend.backend), backend, method, run_);
      ThreadPool pool(plan.threads);
      const std::unique_ptr<Searcher> searcher = make_searcher(fitted_, plan, pool, run_);
      const bool done = search_as_planned(plan, *searcher, pool, sink);
      SearchReport report = report_of(plan);
      searcher->report(report);
      if (done && plan.method.engine == Engine::cpu_filter) {
        fitted_.history().keep_work(method.order, report, n_queries_);
      }
      add_counts(total, report);
      total = report;
      if (done) break;
      selection_.longest = checked::mul(selection_.longest, kLongestGrowth);
    }
    total.pairs = checked::mul(n_queries_, fitted_.n_rows());
    return total;
  }

  Demand demand(const Method& method, device::Backend backend) const {
    return {n_queries_,
            fitted_.n_rows(),
            fitted_.width(),
            checked::add(list_bytes(selection_, properties(method.engine).pipelined, fitted_.n_rows()),
                         selection_.ballot != nullptr ? selection_.ballot->bytes_per_query() : 0),
            fitted_.kernel().scratch_bytes(),
            fitted_.bytes(),
            fitted_.resident(),
            filter_columns(fitted_, method),
            cpu_work(fitted_, method, n_queries_, backend)};
  }

  // Searches as long as the method's engine is pipelined. If memory turns out to be too short, the method changes to
  // one whose engine is not, and the function returns nothing.
  std::optional<SearchReport> search_in_pipeline(const device::BackendChoice& backend, Method& method,
                                                 const Sink& sink) {
    SearchReport earlier;
    while (properties(method.engine).pipelined) {
      const Plan plan = make_plan(demand(method, backend.backend), backend, method, run_);
      if (plan.method.engine != method.engine) {
        method = plan.method;
        continue;
      }
      std::unique_ptr<SearchPipeline> pipeline;
      std::optional<ImageNeed> unmet;
      try {
        pipeline = make_pipeline(fitted_, plan, selection_, n_queries_, run_);
        unmet = run_pipeline(plan, *pipeline, sink);
        if (!unmet) {
          SearchReport report = report_of(plan);
          pipeline->report(report);
          add_counts(earlier, report);
          report.pairs = checked::mul(n_queries_, fitted_.n_rows());
          return report;
        }
      } catch (const Error& error) {
        // Another process may have taken memory that was free when the plan was made, or a filter with more places has
        // no room; a smaller engine will then do.
        const bool more_places = selection_.places > Selection{}.places;
        if (error.code() != ErrorCode::out_of_memory || (next_ > 0 && !more_places)) throw;
        if (more_places && selection_.kind == Selection::Kind::radius) {
          fitted_.history().keep_places(selection_.radius, kPlaces.front());  // or the next search would fail like this
        }
        method.engine = properties(method.engine).if_gpu_is_short;
        method.reason = error.what();
        continue;
      }
      pipeline->report(earlier);
      pipeline.reset();  // until then searches under way read the selection
      if (*unmet == ImageNeed::places) {
        selection_.places = more_places(selection_.places);
      } else {
        fitted_.gpu_filters().require_images(*unmet);
      }
      method = choose_method(fitted_, selection_, n_queries_, backend, run_);
    }
    return std::nullopt;
  }

  // Starts at the first query that has no result yet. Blocks are encoded and handed on while the back end searches the
  // one between. Stops at the first block that wants other images, and returns that need.
  std::optional<ImageNeed> run_pipeline(const Plan& plan, SearchPipeline& pipeline, const Sink& sink) {
    const std::int64_t start = next_;
    const std::int64_t n_blocks = checked::ceil_div(n_queries_ - start, plan.tile_queries);
    const auto block_of = [&](std::int64_t number) {
      const std::int64_t first = start + number * plan.tile_queries;
      return QueryBlock{first, std::min(plan.tile_queries, n_queries_ - first), nullptr,
                        groups_.query.empty() ? nullptr : groups_.query.data() + first};
    };
    const QueryEncoder encoder = [&](std::int64_t first, std::int64_t n, double* rows, ThreadPool& pool) {
      encode({first, n, nullptr, nullptr}, rows, pool);
    };
    const std::int64_t forced = environment::count(environment::Variable::blocks_under_way);
    const std::int64_t under_way = forced > 0 ? std::min<std::int64_t>(forced, pipeline.blocks()) : pipeline.blocks();
    const auto in = pipeline.begins_beside() ? BlockFeeder::In::a_thread : BlockFeeder::In::the_callers;
    std::vector<std::optional<ImageNeed>> unmet(static_cast<std::size_t>(pipeline.blocks()));
    bool stopped = false;  // no block begins after one that wants other images
    BlockFeeder feeder(n_blocks, under_way, in, [&](std::int64_t number) {
      if (stopped) return;
      run_.cancel.check();
      const std::int64_t which = number % pipeline.blocks();
      std::optional<ImageNeed>& need = unmet[static_cast<std::size_t>(which)];
      need = pipeline.begin(static_cast<int>(which), block_of(number), selection_, encoder);
      stopped = need.has_value();
    });
    std::vector<Neighbors> neighbors;
    neighbors.push_back(fitted_.history().take_lists());
    Outcome outcome;
    for (std::int64_t number = 0; number < n_blocks; ++number) {
      feeder.wait_for(number);
      const QueryBlock block = block_of(number);
      const int which = static_cast<int>(number % pipeline.blocks());
      if (const std::optional<ImageNeed> need = unmet[static_cast<std::size_t>(which)]) return need;
      if (pipeline.keeps_lists()) {
        if (const std::optional<ImageNeed> need = pipeline.finish_kept(which, outcome)) return need;
        feeder.done(number);
        next_ = block.first + block.n;
        outcome_sink_(outcome);
      } else {
        if (!pipeline.lists_vary()) shape(block, selection_.ks.front(), neighbors.front());
        if (const std::optional<ImageNeed> need = pipeline.finish(which, neighbors.front())) return need;
        feeder.done(number);
        if (selection_.train_groups != nullptr && !pipeline.lists_vary()) drop_empty_entries(neighbors.front());
        next_ = block.first + block.n;
        sink(neighbors);
      }
      progress_.reach(next_);
    }
    fitted_.history().keep_lists(std::move(neighbors.front()));
    return {};
  }

  // Makes room for lists of k neighbours each.
  static void shape(const QueryBlock& block, std::int64_t k, Neighbors& neighbors) {
    neighbors.first_query = block.first;
    const auto n = static_cast<std::size_t>(checked::mul(block.n, k));
    if (neighbors.indices.capacity() < n) {
      neighbors.indices.reserve(n);
      neighbors.distances.reserve(n);
      prefer_huge_pages(neighbors.indices.data(), n * sizeof(std::int64_t));
      prefer_huge_pages(neighbors.distances.data(), n * sizeof(double));
    }
    neighbors.indices.resize(n);
    neighbors.distances.resize(n);
    neighbors.offsets.resize(static_cast<std::size_t>(block.n) + 1);
    for (std::size_t i = 0; i < neighbors.offsets.size(); ++i) {
      neighbors.offsets[i] = static_cast<std::int64_t>(i) * k;
    }
  }

  // Searches from the first query that has no result yet; returns false if a list outgrew the plan.
  bool search_as_planned(const Plan& plan, Searcher& searcher, ThreadPool& pool, const Sink& sink) {
    const double* const in_place = queries_.encoded();
    Buffer<double> encoded(in_place != nullptr ? 0 : checked::mul(plan.tile_queries, fitted_.width()));
    const bool by_gpu = plan.method.engine == Engine::gpu_reference;
    TrainParts parts(fitted_, plan.part_rows, by_gpu ? fitted_.rows_alone_on(plan.backend.gpus) : nullptr);
    Lists lists;
    std::vector<Neighbors> neighbors;
    while (next_ < n_queries_) {
      run_.cancel.check();
      QueryBlock block{next_, std::min(plan.tile_queries, n_queries_ - next_), encoded.data(), nullptr};
      if (in_place != nullptr) {
        block.rows = in_place + next_ * fitted_.width();
      } else {
        encode(block, encoded.data(), pool);
      }
      if (!groups_.query.empty()) block.groups = groups_.query.data() + next_;
      place(block, lists, neighbors);
      for (std::int64_t part = 0; part < parts.count(); ++part) {
        const TrainPart rows = parts.part(part, pool, run_.cancel);
        const std::int64_t done = next_ + block.n * (part + 1) / parts.count();
        const PhaseSpan span(progress_, next_ + block.n * part / parts.count(), done);
        if (searcher.search(rows, block, selection_, lists) == PartEnd::list_too_long) return false;
        progress_.reach(done);
      }
      hand_on(block, lists, pool, neighbors, sink);
      next_ += block.n;
    }
    return true;
  }

  // Whether each list has a place of its own in the result. The lists of a radius have no bound, and heaps several.
  bool has_places() const {
    return selection_.kind == Selection::Kind::nearest &&
           selection_.ks.front() <= std::numeric_limits<std::int32_t>::max();
  }

  // Makes room for the lists of a block.
  void place(const QueryBlock& block, Lists& lists, std::vector<Neighbors>& neighbors) const {
    const auto n = static_cast<std::size_t>(block.n);
    if (!has_places()) return lists.reset(n * selection_.n_lists());
    const std::int64_t k = selection_.ks.front();
    const auto most = static_cast<std::int32_t>(k);
    if (arrays_ != nullptr) {
      return lists.reset(n, most, arrays_->indices + block.first * k, arrays_->distances + block.first * k);
    }
    neighbors.resize(1);
    shape(block, k, neighbors.front());
    lists.reset(n, most, neighbors.front().indices.data(), neighbors.front().distances.data());
  }

  // Hands on the lists of a block.
  void hand_on(const QueryBlock& block, Lists& lists, ThreadPool& pool, std::vector<Neighbors>& neighbors,
               const Sink& sink) const {
    if (!has_places()) {
      hand_on_lists(lists, selection_.n_lists(), block.first, pool, run_.cancel, neighbors);
    } else if (arrays_ != nullptr) {
      return lists.fill_up({std::numeric_limits<double>::quiet_NaN(), -1});
    } else if (!lists.full()) {
      lists.fill_up({0.0, kNoNeighbor});
      drop_empty_entries(neighbors.front());
    }
    sink(neighbors);
  }

  void encode(const QueryBlock& block, double* rows, ThreadPool& pool) const {
    constexpr std::int64_t kRowsPerTask = 256;
    pool.parallel_for(checked::ceil_div(block.n, kRowsPerTask), run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kRowsPerTask, end = std::min(begin + kRowsPerTask, block.n);
      queries_.encode(block.first + begin, block.first + end, rows + begin * fitted_.width());
    });
  }

  static void add_counts(const SearchReport& earlier, SearchReport& report) {
    for (const auto count : {&SearchReport::scanned, &SearchReport::skipped, &SearchReport::listed,
                             &SearchReport::evaluated, &SearchReport::opened, &SearchReport::uncertified}) {
      report.*count = checked::add(report.*count, earlier.*count);
    }
  }

  const Fitted& fitted_;
  const RunOptions& run_;
  const QuerySource& queries_;
  std::int64_t n_queries_;
  Selection selection_;
  std::function<void(const Outcome&)> outcome_sink_;
  const NeighborArrays* arrays_;  // or null
  Groups groups_;
  std::int64_t next_ = 0;                               // the first query without a result
  PhaseProgress progress_{run_, "search", n_queries_};  // it does not go back when a block is searched again
};

// Chooses the GPU of the query rows, which the run is for or else the CPU.
RunOptions on_their_gpu(const RunOptions& run, const QueryRows& queries) {
  RunOptions theirs = run;
  const bool on_gpu = queries.array() != nullptr && queries.array()->gpu >= 0;
  if (on_gpu && run.device != "cpu") theirs.device = "cuda:" + std::to_string(queries.array()->gpu);
  return theirs;
}

SearchReport timed_search(const Fitted& fitted, const QueryRows& queries, const QuerySource& source,
                          const SearchJob& job, const RunOptions& run, const BlockedSearch::Sink& sink) {
  const RunningJob running(run);
  const auto start = std::chrono::steady_clock::now();
  SearchReport report =
      BlockedSearch(fitted, source, groups_of(fitted, queries, source.n_rows(), job, run), job, run).search(sink);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  hand_report(run, "search", report);
  return report;
}

// The query rows, if a GPU can read them where they are and results may stay on it, in that stream; else null. A GPU
// waits for one stream, that of the rows.
const GpuRows* rows_beside(const QuerySource& source, const QueryRows& queries, int gpu, const void* stream) {
  const auto* const rows = dynamic_cast<const GpuRows*>(&source);
  const bool beside = rows != nullptr && rows->as_they_are() && rows->gpu() == gpu && queries.array()->stream == stream;
  return beside ? rows : nullptr;
}

}  // namespace

SearchReport run_search(const Fitted& fitted, const QueryRows& queries, const SearchJob& job, const RunOptions& run,
                        const std::function<void(std::vector<Neighbors>&)>& sink) {
  const std::unique_ptr<QuerySource> source = make_query_source(fitted, queries, run);
  const RunOptions theirs = on_their_gpu(run, queries);
  const PredictionArrays* const out = job.predictions;
  const GpuRows* const rows = out != nullptr ? rows_beside(*source, queries, out->gpu, out->stream) : nullptr;
  if (rows == nullptr) return timed_search(fitted, queries, *source, job, theirs, sink);
  const InPlace in_place(*rows, *out, job.selection.ballot->voters.n_values());
  SearchJob there = job;
  there.selection.in_place = &in_place;
  return timed_search(fitted, queries, *source, there, theirs, sink);
}

SearchReport run_search(const Fitted& fitted, const QueryRows& queries, SearchJob job, const RunOptions& run,
                        const NeighborArrays& out) {
  const std::unique_ptr<QuerySource> source = make_query_source(fitted, queries, run);
  const RunOptions theirs = on_their_gpu(run, queries);
  const std::int64_t k = job.selection.ks.front();
  const CallerLists lists(out, source->n_rows(), k);
  std::optional<InPlace> in_place;
  if (const GpuRows* const rows = rows_beside(*source, queries, out.gpu, out.stream); rows != nullptr) {
    job.selection.in_place = &in_place.emplace(*rows, out, k);
  }
  job.outcome_sink = [&](const Outcome& outcome) { lists.write(outcome); };
  if (out.gpu < 0) job.arrays = &out;
  return timed_search(fitted, queries, *source, job, theirs,
                      [&](const std::vector<Neighbors>& blocks) { lists.write(blocks.front()); });
}

Selection select_nearest(const Fitted& fitted, std::vector<std::int64_t> ks, bool exclude_self) {
  if (ks.empty()) throw Error(ErrorCode::invalid_argument, "no k is given", {.option = "n_neighbors"});
  const bool rapidminer = fitted.options().compat == Compat::rapidminer;
  const std::int64_t most = fitted.n_rows() - (exclude_self ? 1 : 0);
  for (const std::int64_t k : ks) {
    if (k < 1)
      throw Error(ErrorCode::invalid_argument, "k = " + std::to_string(k) + "; k must be at least 1",
                  {.option = "n_neighbors"});
    if (k > most && !rapidminer) {
      throw Error(ErrorCode::invalid_argument,
                  "k = " + std::to_string(k) + " is more than the " + counted(most, "training row") + " to choose from",
                  {.option = "n_neighbors"});
    }
  }
  Selection selection;
  selection.exclude_self = exclude_self;
  selection.kind = rapidminer ? Selection::Kind::rapidminer_heap : Selection::Kind::nearest;
  selection.ks = rapidminer ? std::move(ks) : std::vector<std::int64_t>{*std::max_element(ks.begin(), ks.end())};
  return selection;
}

}  // namespace stope::knn
