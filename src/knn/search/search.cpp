#include "knn/search/search.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "base/huge_pages.hpp"
#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "knn/engine/pipeline.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/gpu/caller_rows.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/lists/collector.hpp"
#include "knn/search/block_feeder.hpp"
#include "knn/search/make_engine.hpp"
#include "knn/search/make_plan.hpp"
#include "knn/search/method.hpp"
#include "knn/vote/ballot.hpp"
#include "stope/error.hpp"
#include "table/encode.hpp"

namespace stope::knn {
namespace {

const Column& group_column(const Table& table, const std::string& name) {
  const std::int64_t index = table.find(name);
  if (index < 0) {
    throw Error(ErrorCode::invalid_argument, "there is no column '" + name + "' to exclude groups by", {table.source});
  }
  return table.columns[static_cast<std::size_t>(index)];
}

// The groups are a numeric column's values; for a nominal column they are the training table's codes.
std::vector<std::int64_t> group_ids(const Column& column, const Column& train) {
  if (column.nominal() != train.nominal()) {
    throw Error(ErrorCode::invalid_file, "the group column '" + column.name +
                                             "' is numeric in one table and nominal in "
                                             "the other");
  }
  std::vector<std::int64_t> ids(static_cast<std::size_t>(column.size()), kNoGroup);
  const std::vector<std::int32_t> codes = map_values(column.values, train.values, kUnseenCode);
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (column.missing(row)) continue;
    std::int64_t id = 0;
    if (column.nominal()) {
      if (column.codes()[row] < 0) continue;  // kUnseenCode: a value that the training table does not have
      id = codes[static_cast<std::size_t>(column.codes()[row])];
    } else {
      // The value's bits name the group; + 0.0 makes one group of -0 and +0. A double whose bits read -1 is a NaN.
      id = std::bit_cast<std::int64_t>(column.at(row) + 0.0);
    }
    ids[static_cast<std::size_t>(row)] = id;
  }
  return ids;
}

// A list within a radius has no bound but n, and no memory would hold n rows for many queries. The first plan has room
// for kFirstLongest rows a list. Where that turns out to be too few, the next plan has room for more.
constexpr std::int64_t kFirstLongest = 1024, kLongestGrowth = 8;

std::int64_t list_bytes(const Selection& selection, std::int64_t n_rows) {
  // A candidate and its copy in the result are 16 bytes each.
  constexpr std::int64_t kBytesPerCandidate = 2 * static_cast<std::int64_t>(sizeof(double) + sizeof(std::int64_t));
  if (selection.kind == Selection::Kind::radius) {
    return checked::mul(std::min(selection.longest, n_rows), kBytesPerCandidate);
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
  BlockedSearch(const Fitted& fitted, const Table& queries, const SearchJob& job, const RunOptions& run)
      : fitted_(fitted),
        run_(run),
        n_queries_(queries.n_rows),
        columns_(match_columns(fitted.features(), queries, fitted.options().compat)),
        selection_(job.selection),
        outcome_sink_(job.outcome_sink) {
    check();
    if (!job.exclude_group.empty()) {
      const Column& train_column = group_column(fitted.train(), job.exclude_group);
      train_groups_ = group_ids(train_column, train_column);
      query_groups_ = group_ids(group_column(queries, job.exclude_group), train_column);
      selection_.train_groups = train_groups_.data();
    }
  }
  BlockedSearch(const Fitted& fitted, const DeviceQueries& queries, const SearchJob& job, const RunOptions& run)
      : fitted_(fitted),
        run_(run),
        n_queries_(queries.n_rows()),
        device_queries_(&queries),
        selection_(job.selection),
        outcome_sink_(job.outcome_sink) {
    check();
  }

  using Sink = std::function<void(std::vector<Neighbors>&)>;

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
  void check() {
    if (selection_.exclude_self && n_queries_ != fitted_.n_rows()) {
      throw Error(ErrorCode::invalid_argument,
                  "excluding a row itself needs the training table as queries: " + std::to_string(n_queries_) +
                      " query rows, " + std::to_string(fitted_.n_rows()) + " training rows");
    }
    if (selection_.kind == Selection::Kind::radius) selection_.longest = kFirstLongest;
  }

  // Searches from the first query that has no result yet.
  SearchReport search_on(const device::BackendChoice& backend, const Sink& sink) {
    Method method = choose_method(fitted_, selection_, n_queries_, backend, run_);
    if (const std::optional<SearchReport> report = search_in_pipeline(backend, method, sink)) return *report;
    SearchReport total;
    for (;;) {
      const Plan plan = make_plan(demand(method), backend, method, run_);
      const std::unique_ptr<Searcher> searcher = make_searcher(fitted_, plan, run_);
      const bool done = search_as_planned(plan, *searcher, sink);
      SearchReport report = report_of(plan);
      searcher->report(report);
      add_counts(total, report);
      total = report;
      if (done) break;
      selection_.longest = checked::mul(selection_.longest, kLongestGrowth);
    }
    total.pairs = checked::mul(n_queries_, fitted_.n_rows());
    return total;
  }

  Demand demand(const Method& method) const {
    return {n_queries_,
            fitted_.n_rows(),
            fitted_.width(),
            checked::add(list_bytes(selection_, fitted_.n_rows()),
                         selection_.ballot != nullptr ? selection_.ballot->bytes_per_query() : 0),
            fitted_.kernel().scratch_bytes(),
            fitted_.bytes(),
            fitted_.resident(),
            filter_columns(fitted_, method)};
  }

  // Searches as long as the method's engine is pipelined. If memory turns out to be too short, the method changes to
  // one whose engine is not, and the function returns nothing.
  std::optional<SearchReport> search_in_pipeline(const device::BackendChoice& backend, Method& method,
                                                 const Sink& sink) {
    SearchReport earlier;
    while (properties(method.engine).pipelined) {
      const Plan plan = make_plan(demand(method), backend, method, run_);
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
        // Another process may have taken memory that was free when the plan was made; a smaller engine will then do.
        if (error.code() != ErrorCode::out_of_memory || next_ > 0) throw;
        method.engine = properties(method.engine).if_gpu_is_short;
        method.reason = error.what();
        continue;
      }
      pipeline->report(earlier);
      fitted_.gpu_filters().require_images(*unmet);
      method = choose_method(fitted_, selection_, n_queries_, backend, run_);
    }
    return std::nullopt;
  }

  // Starts at the first query that has no result yet. Blocks are encoded and handed on while the back end searches the
  // one between. Stops at the first block that wants other images, and returns that need.
  std::optional<ImageNeed> run_pipeline(const Plan& plan, SearchPipeline& pipeline, const Sink& sink) {
    const std::int64_t k = selection_.ks.front(), start = next_;
    const std::int64_t n_blocks = checked::ceil_div(n_queries_ - start, plan.tile_queries);
    const auto block_of = [&](std::int64_t number) {
      const std::int64_t first = start + number * plan.tile_queries;
      return QueryBlock{first, std::min(plan.tile_queries, n_queries_ - first), nullptr,
                        query_groups_.empty() ? nullptr : query_groups_.data() + first};
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
        shape(block, k, neighbors.front());
        if (const std::optional<ImageNeed> need = pipeline.finish(which, neighbors.front())) return need;
        feeder.done(number);
        if (selection_.train_groups != nullptr) drop_empty_entries(neighbors.front());
        next_ = block.first + block.n;
        sink(neighbors);
      }
      report_progress(next_);
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
  bool search_as_planned(const Plan& plan, Searcher& searcher, const Sink& sink) {
    Buffer<double> encoded(checked::mul(plan.tile_queries, fitted_.width()));
    TrainParts parts(fitted_, plan.part_rows);
    ThreadPool pool(plan.threads);
    const std::size_t n_lists = selection_.n_lists();
    Lists lists;
    std::vector<Neighbors> neighbors;
    while (next_ < n_queries_) {
      run_.cancel.check();
      QueryBlock block{next_, std::min(plan.tile_queries, n_queries_ - next_), encoded.data(), nullptr};
      encode(block, encoded.data(), pool);
      if (!query_groups_.empty()) block.groups = query_groups_.data() + next_;
      lists.assign(static_cast<std::size_t>(block.n) * n_lists, {});
      for (std::int64_t part = 0; part < parts.count(); ++part) {
        const PartEnd end = searcher.search(parts.part(part, pool, run_.cancel), block, selection_, lists);
        if (end == PartEnd::list_too_long) return false;
        report_progress(next_ + block.n * (part + 1) / parts.count());
      }
      append_lists(lists, n_lists, next_, neighbors);
      sink(neighbors);
      next_ += block.n;
    }
    return true;
  }

  void encode(const QueryBlock& block, double* rows, ThreadPool& pool) const {
    constexpr std::int64_t kRowsPerTask = 256;
    pool.parallel_for(checked::ceil_div(block.n, kRowsPerTask), run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kRowsPerTask, end = std::min(begin + kRowsPerTask, block.n);
      double* const to = rows + begin * fitted_.width();
      if (device_queries_ != nullptr) {
        device_queries_->encode(block.first + begin, block.first + end, to);
      } else {
        encode_rows(columns_, block.first + begin, block.first + end, to);
      }
    });
  }

  // Progress does not go back when a block is searched again.
  void report_progress(std::int64_t done) {
    furthest_ = std::max(furthest_, done);
    if (run_.progress) run_.progress("search", furthest_, n_queries_);
  }

  static void add_counts(const SearchReport& earlier, SearchReport& report) {
    for (const auto count : {&SearchReport::scanned, &SearchReport::skipped, &SearchReport::listed,
                             &SearchReport::evaluated, &SearchReport::uncertified}) {
      report.*count = checked::add(report.*count, earlier.*count);
    }
  }

  const Fitted& fitted_;
  const RunOptions& run_;
  std::int64_t n_queries_;
  // The queries are the columns of a table or, if device_queries_ is not null, rows on a GPU.
  std::vector<MatchedColumn> columns_;
  const DeviceQueries* device_queries_ = nullptr;
  Selection selection_;
  std::function<void(const Outcome&)> outcome_sink_;
  std::vector<std::int64_t> query_groups_, train_groups_;
  std::int64_t next_ = 0;  // the first query without a result
  std::int64_t furthest_ = 0;
};

template <class Queries>
SearchReport timed_search(const Fitted& fitted, const Queries& queries, const SearchJob& job, const RunOptions& run,
                          const BlockedSearch::Sink& sink) {
  const auto start = std::chrono::steady_clock::now();
  SearchReport report = BlockedSearch(fitted, queries, job, run).search(sink);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace

SearchReport run_search(const Fitted& fitted, const Table& queries, const SearchJob& job, const RunOptions& run,
                        const std::function<void(std::vector<Neighbors>&)>& sink) {
  return timed_search(fitted, queries, job, run, sink);
}

SearchReport run_search(const Fitted& fitted, const DeviceQueries& queries, const SearchJob& job, const RunOptions& run,
                        const std::function<void(std::vector<Neighbors>&)>& sink) {
  return timed_search(fitted, queries, job, run, sink);
}

Selection select_nearest(const Fitted& fitted, std::vector<std::int64_t> ks, bool exclude_self) {
  if (ks.empty()) throw Error(ErrorCode::invalid_argument, "no k is given");
  const bool rapidminer = fitted.options().compat == Compat::rapidminer;
  const std::int64_t most = fitted.n_rows() - (exclude_self ? 1 : 0);
  for (const std::int64_t k : ks) {
    if (k < 1) throw Error(ErrorCode::invalid_argument, "k = " + std::to_string(k) + "; k must be at least 1");
    if (k > most && !rapidminer) {
      throw Error(ErrorCode::invalid_argument, "k = " + std::to_string(k) + " is more than the " +
                                                   std::to_string(most) + " training rows there are to choose from");
    }
  }
  Selection selection;
  selection.exclude_self = exclude_self;
  selection.kind = rapidminer ? Selection::Kind::rapidminer_heap : Selection::Kind::nearest;
  selection.ks = rapidminer ? std::move(ks) : std::vector<std::int64_t>{*std::max_element(ks.begin(), ks.end())};
  return selection;
}

}  // namespace stope::knn
