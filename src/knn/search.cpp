#include "knn/search.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <string>
#include <unordered_map>

#include "base/checked.hpp"
#include "knn/collector.hpp"
#include "knn/filter/index.hpp"
#include "knn/method.hpp"
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

// Groups of a numeric column are its values; of a nominal column the training table's codes.
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
      id = codes[static_cast<std::size_t>(column.codes()[row])];
    } else {
      // The value's bits name the group; + 0.0 makes one group of -0 and +0. A double whose bits read -1 is a NaN.
      id = std::bit_cast<std::int64_t>(column.at(row) + 0.0);
    }
    ids[static_cast<std::size_t>(row)] = id;
  }
  return ids;
}

std::int64_t list_bytes(const Selection& selection, std::int64_t n_rows) {
  // A candidate and its copy in the result are 16 bytes each. Radius lists have no bound but n.
  constexpr std::int64_t kBytesPerCandidate = 2 * static_cast<std::int64_t>(sizeof(double) + sizeof(std::int64_t));
  if (selection.kind == Selection::Kind::radius) return checked::mul(n_rows, kBytesPerCandidate);
  std::int64_t candidates = 0;
  for (const std::int64_t k : selection.ks) candidates = checked::add(candidates, std::min(k, n_rows));
  return checked::mul(candidates, kBytesPerCandidate);
}

std::int64_t filter_columns(const Fitted& fitted, const Method& method) {
  if (method.way == Method::Way::reference) return 0;
  return fitted.filters().map(fitted, *fitted.kernel().filter_form())->n_columns();
}

}  // namespace

SearchReport run_search(const Fitted& fitted, const Table& queries, const SearchJob& job, const RunOptions& run,
                        const std::function<void(std::vector<Neighbors>&)>& sink) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<MatchedColumn> columns = match_columns(fitted.features(), queries, fitted.options().compat);
  Selection selection = job.selection;
  if (selection.exclude_self && queries.n_rows != fitted.n_rows()) {
    throw Error(ErrorCode::invalid_argument,
                "excluding a row itself needs the training table as queries: " + std::to_string(queries.n_rows) +
                    " query rows, " + std::to_string(fitted.n_rows()) + " training rows");
  }
  std::vector<std::int64_t> query_groups, train_groups;
  if (!job.exclude_group.empty()) {
    const Column& train_column = group_column(fitted.train(), job.exclude_group);
    train_groups = group_ids(train_column, train_column);
    query_groups = group_ids(group_column(queries, job.exclude_group), train_column);
    selection.train_groups = train_groups.data();
  }
  const device::BackendChoice backend = device::choose_backend(run);
  const Method method = choose_method(fitted, selection, queries.n_rows, backend, run);
  const Plan plan =
      make_plan({queries.n_rows, fitted.n_rows(), fitted.width(), list_bytes(selection, fitted.n_rows()),
                 fitted.kernel().scratch_bytes(), fitted.bytes(), fitted.resident(), filter_columns(fitted, method)},
                backend, method, run);
  const std::unique_ptr<Searcher> searcher = make_searcher(fitted, plan, run);
  Buffer<double> encoded(checked::mul(plan.tile_queries, fitted.width()));
  TrainParts parts(fitted, plan.part_rows);
  ThreadPool pool(plan.threads);
  const std::size_t n_lists = selection.n_lists();
  Lists lists;
  std::vector<Neighbors> neighbors;
  for (std::int64_t first = 0; first < queries.n_rows; first += plan.tile_queries) {
    run.cancel.check();
    QueryBlock block{first, std::min(plan.tile_queries, queries.n_rows - first), encoded.data(), nullptr};
    encode_rows(columns, first, first + block.n, encoded.data());
    if (!query_groups.empty()) block.groups = query_groups.data() + first;
    lists.assign(static_cast<std::size_t>(block.n) * n_lists, {});
    for (std::int64_t part = 0; part < parts.count(); ++part) {
      searcher->search(parts.part(part, pool, run.cancel), block, selection, lists);
      if (run.progress) run.progress("search", first + block.n * (part + 1) / parts.count(), queries.n_rows);
    }
    append_lists(lists, n_lists, first, neighbors);
    sink(neighbors);
  }
  SearchReport report = report_of(plan);
  searcher->report(report);
  report.pairs = checked::mul(queries.n_rows, fitted.n_rows());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
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
