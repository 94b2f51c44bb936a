// KnnClassifier and KnnRegressor: labels in, votes out (stope/knn.hpp).
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/guarded.hpp"
#include "base/sink.hpp"
#include "knn/gpu/caller_predictions.hpp"
#include "knn/search/queries.hpp"
#include "knn/search/search.hpp"
#include "knn/vote/ballot.hpp"
#include "knn/vote/held_voters.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "table/check_table.hpp"

namespace stope {
namespace {

const Column& label_column(const Table& train) {
  const std::int64_t index = train.find(Role::label);
  if (index < 0)
    throw Error(ErrorCode::invalid_argument, "the training table has no label column",
                {.file = train.source, .option = "target"});
  return train.columns[static_cast<std::size_t>(index)];
}

void require_classes(const Column& label, const std::string& source) {
  if (label.nominal()) return;
  throw Error(ErrorCode::unsupported, "classification needs a nominal label; '" + label.name + "' is numeric",
              {.file = source, .option = "nominal", .feature = label.name});
}

void require_targets(const Column& label, const std::string& source) {
  if (!label.nominal()) return;
  throw Error(ErrorCode::unsupported, "regression needs a numeric label; '" + label.name + "' is nominal",
              {.file = source, .option = "numeric", .feature = label.name});
}

void require_rows_of(const KnnIndex& index, const Column& label) {
  if (label.size() == index.n_samples()) return;
  throw Error(ErrorCode::invalid_argument,
              "the label '" + label.name + "' has " + std::to_string(label.size()) + " rows, the index " +
                  std::to_string(index.n_samples()),
              {.feature = label.name});
}

// Runs one search for all ks. place(k's position, query) says where a prediction goes, and placed(k's position, query)
// that it is there. Both are called in the order of the queries.
template <class Where, class Placed>
class PredictJob {
 public:
  PredictJob(const knn::Fitted& fitted, const knn::Ballot& ballot, const Where& place, const Placed& placed)
      : fitted_(fitted), ballot_(ballot), place_(place), placed_(placed) {}

  /// `arrays`: where a GPU may put predictions that it finds from rows in its memory, or null.
  SearchReport run(const QueryRows& test, const VoteOptions& options, const RunOptions& run,
                   const PredictionArrays* arrays) const {
    knn::SearchJob job{knn::select_nearest(fitted_, ballot_.ks, options.exclude_self), options.exclude_group};
    if (ballot_.bytes_per_query() <= knn::kMostVotedBytes) {
      job.selection.ballot = &ballot_;
      job.outcome_sink = [&](const knn::Outcome& outcome) { take(outcome); };
      job.predictions = arrays;
    }
    const bool shared_list = job.selection.kind == knn::Selection::Kind::nearest;
    return knn::run_search(fitted_, test, job, run, [&](std::vector<Neighbors>& lists) {
      for (std::size_t which = 0; which < ballot_.ks.size(); ++which) vote(which, lists[shared_list ? 0 : which]);
    });
  }

 private:
  void vote(std::size_t which, const Neighbors& block) const {
    for (std::int64_t i = 0; i < block.n_queries(); ++i) {
      const auto begin = static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i)]);
      const auto length = static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i) + 1]) - begin;
      vote(which, block.first_query + i, std::span(block.indices).subspan(begin, length),
           std::span(block.distances).subspan(begin, length));
    }
  }

  void vote(std::size_t which, std::int64_t query, std::span<const std::int64_t> indices,
            std::span<const double> distances) const {
    const std::int64_t k = ballot_.ks[which];
    const std::int64_t n = std::min(static_cast<std::int64_t>(indices.size()), k);
    const knn::PredictionPlace place = place_(which, query);
    const std::int32_t winner = knn::cast_vote(ballot_, {distances.data(), indices.data(), n, k}, place.values);
    if (place.winner != nullptr) *place.winner = winner;
    placed_(which, query);
  }

  // Votes on the lists that a GPU left to the host. The GPU's own predictions are in place, or are put there now.
  void take(const knn::Outcome& outcome) const {
    for (std::size_t which = 0; which < ballot_.ks.size(); ++which) {
      std::int64_t i = 0;
      for (std::size_t list = 0; list < outcome.lists.size(); ++list, ++i) {
        if (!outcome.placed) put(which, outcome, i, outcome.listed[list]);
        i = outcome.listed[list];
        vote(which, outcome.first_query + i, outcome.lists[list]);
      }
      if (!outcome.placed) put(which, outcome, i, outcome.n_queries);
    }
  }

  void vote(std::size_t which, std::int64_t query, const std::vector<knn::Neighbor>& list) const {
    std::vector<std::int64_t> indices;
    std::vector<double> distances;
    for (const knn::Neighbor& candidate : list) {
      indices.push_back(candidate.row);
      distances.push_back(candidate.distance);
    }
    vote(which, query, indices, distances);
  }

  // Puts the GPU's predictions of queries [begin, end) of the block in place.
  void put(std::size_t which, const knn::Outcome& outcome, std::int64_t begin, std::int64_t end) const {
    const std::int64_t n_values = ballot_.voters.n_values();
    for (std::int64_t i = begin; i < end; ++i) {
      const knn::PredictionPlace cell = place_(which, outcome.first_query + i);
      const std::int64_t at = static_cast<std::int64_t>(which) * outcome.n_queries + i;
      if (!cell.values.empty()) std::copy_n(outcome.values.data() + at * n_values, n_values, cell.values.begin());
      if (cell.winner != nullptr) *cell.winner = outcome.winners[static_cast<std::size_t>(at)];
      placed_(which, outcome.first_query + i);
    }
  }

  const knn::Fitted& fitted_;
  const knn::Ballot& ballot_;
  const Where& place_;
  const Placed& placed_;
};

template <class Where, class Placed>
SearchReport vote_each(const knn::Fitted& fitted, const knn::Ballot& ballot, const QueryRows& test,
                       const VoteOptions& options, const RunOptions& run, const Where& place, const Placed& placed,
                       const PredictionArrays* arrays = nullptr) {
  return PredictJob(fitted, ballot, place, placed).run(test, options, run, arrays);
}

// Votes with one search, and writes the predictions to the caller's memory. `n_values`: the numbers of a prediction,
// 0 if they are not wanted.
SearchReport vote_into(const knn::Fitted& fitted, knn::Ballot ballot, const QueryRows& test, const VoteOptions& options,
                       const RunOptions& run, PredictionArrays out, std::int64_t n_values) {
  const bool classes = ballot.voters.codes != nullptr;
  if (!classes) out.codes = nullptr;
  if (n_values == 0) out.values = nullptr;
  knn::CallerPredictions predictions(out, knn::checked_rows(fitted, test), n_values, classes);
  if (out.gpu < 0 && out.values != nullptr) {
    ballot.values = {out.values};
    if (classes) ballot.winners = {out.codes};
  }
  const SearchReport report = vote_each(
      fitted, ballot, test, options, run, [&](std::size_t, std::int64_t query) { return predictions.place(query); },
      [](std::size_t, std::int64_t) {}, &out);
  predictions.flush();
  return report;
}

}  // namespace

KnnClassifier KnnClassifier::fit(const Table& train, const KnnOptions& options, const RunOptions& run) try {
  check_shape(train);
  KnnClassifier classifier;
  const Column& label = label_column(train);
  require_classes(label, train.source);
  classifier.classes_ = label.values;
  classifier.voters_ = knn::hold_voters(train, label, options);
  classifier.index_ = KnnIndex::fit(train, options, run);
  return classifier;
} catch (...) {
  rethrow_as_error();
}

KnnClassifier KnnClassifier::fit(const KnnIndex& index, const Column& label,
                                 std::span<const double> sample_weights) try {
  KnnClassifier classifier;
  require_classes(label, {});
  require_rows_of(index, label);
  classifier.classes_ = label.values;
  classifier.voters_ = knn::hold_voters(label, sample_weights, index.fitted().options(), {});
  classifier.index_ = index;
  return classifier;
} catch (...) {
  rethrow_as_error();
}

namespace {

constexpr std::int64_t kPredictionsAtOnce = 1024;  // predictions handed out at once: little memory, few calls

// With very many classes a block has fewer rows, so that its confidences take a megabyte.
std::int64_t predictions_at_once(std::size_t n_classes, Confidences confidences) {
  constexpr std::int64_t kMostConfidences = std::int64_t{1} << 17;
  if (confidences == Confidences::none || n_classes == 0) return kPredictionsAtOnce;
  return std::clamp<std::int64_t>(kMostConfidences / static_cast<std::int64_t>(n_classes), 1, kPredictionsAtOnce);
}

knn::Ballot ballot_of(const knn::Fitted& fitted, const std::shared_ptr<const knn::HeldVoters>& voters,
                      VoteWeights weights, std::vector<std::int64_t> ks) {
  return {knn::vote_rule(weights, fitted.options().compat), voters->view(), std::move(ks), voters};
}

}  // namespace

std::vector<Classification> KnnClassifier::predict_each(const QueryRows& test, const std::vector<std::int64_t>& ks,
                                                        const VoteOptions& vote, const RunOptions& run,
                                                        SearchReport* report) const try {
  const std::int64_t n_rows = knn::checked_rows(index_.fitted(), test);
  const bool all = vote.confidences == Confidences::all;
  if (all) knn::require_room_for_confidences(n_rows, classes_.size(), static_cast<std::int64_t>(ks.size()), run);
  std::vector<Classification> results;
  const knn::Fitted& fitted = index_.fitted();
  knn::Ballot ballot = ballot_of(fitted, voters_, vote.weights, ks);
  results.reserve(ks.size());
  for (std::size_t i = 0; i < ks.size(); ++i) {
    results.push_back(knn::blank_classification(classes_, n_rows, vote.confidences));
  }
  if (all) {
    for (Classification& result : results) {
      ballot.winners.push_back(result.codes.data());
      ballot.values.push_back(result.confidences.data());
    }
  }
  const SearchReport done = vote_each(
      fitted, ballot, test, vote, run,
      [&](std::size_t which, std::int64_t query) {
        Classification& result = results[which];
        return knn::PredictionPlace{&result.codes[static_cast<std::size_t>(query)], knn::confidences_of(result, query)};
      },
      [](std::size_t, std::int64_t) {});
  if (report != nullptr) *report = done;
  return results;
} catch (...) {
  rethrow_as_error();
}

Classification KnnClassifier::predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run) const try {
  return predict_each(test, {vote.n_neighbors}, vote, run).front();
} catch (...) {
  rethrow_as_error();
}

SearchReport KnnClassifier::predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run,
                                    const ClassificationSink& sink) const try {
  require_sink(sink);
  const std::int64_t at_once = predictions_at_once(classes_.size(), vote.confidences);
  Classification block = knn::blank_classification(classes_, at_once, vote.confidences);
  const std::int64_t n_rows = knn::checked_rows(index_.fitted(), test);
  const knn::Fitted& fitted = index_.fitted();
  return vote_each(
      fitted, ballot_of(fitted, voters_, vote.weights, {vote.n_neighbors}), test, vote, run,
      [&](std::size_t, std::int64_t query) {
        const std::int64_t at = query % at_once;
        return knn::PredictionPlace{&block.codes[static_cast<std::size_t>(at)], knn::confidences_of(block, at)};
      },
      [&](std::size_t, std::int64_t query) {
        const std::int64_t at = query % at_once;
        if (at + 1 < at_once && query + 1 < n_rows) return;
        if (at + 1 < at_once) {  // the last block
          block.codes.resize(static_cast<std::size_t>(at) + 1);
          if (vote.confidences == Confidences::all) block.confidences.resize(block.codes.size() * classes_.size());
        }
        sink(query - at, block);
      });
} catch (...) {
  rethrow_as_error();
}

SearchReport KnnClassifier::predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run,
                                    const PredictionArrays& out) const try {
  const bool all = vote.confidences == Confidences::all;
  return vote_into(index_.fitted(), ballot_of(index_.fitted(), voters_, vote.weights, {vote.n_neighbors}), test, vote,
                   run, out, all ? classes_.size() : 0);
} catch (...) {
  rethrow_as_error();
}

KnnRegressor KnnRegressor::fit(const Table& train, const KnnOptions& options, const RunOptions& run) try {
  check_shape(train);
  KnnRegressor regressor;
  const Column& label = label_column(train);
  require_targets(label, train.source);
  regressor.voters_ = knn::hold_voters(train, label, options);
  regressor.index_ = KnnIndex::fit(train, options, run);
  return regressor;
} catch (...) {
  rethrow_as_error();
}

KnnRegressor KnnRegressor::fit(const KnnIndex& index, const Column& label, std::span<const double> sample_weights) try {
  KnnRegressor regressor;
  require_targets(label, {});
  require_rows_of(index, label);
  regressor.voters_ = knn::hold_voters(label, sample_weights, index.fitted().options(), {});
  regressor.index_ = index;
  return regressor;
} catch (...) {
  rethrow_as_error();
}

std::vector<std::vector<double>> KnnRegressor::predict_each(const QueryRows& test, const std::vector<std::int64_t>& ks,
                                                            const VoteOptions& vote, const RunOptions& run,
                                                            SearchReport* report) const try {
  const auto n_rows = static_cast<std::size_t>(knn::checked_rows(index_.fitted(), test));
  std::vector<std::vector<double>> results(ks.size(), std::vector<double>(n_rows));
  const knn::Fitted& fitted = index_.fitted();
  knn::Ballot ballot = ballot_of(fitted, voters_, vote.weights, ks);
  for (std::vector<double>& result : results) ballot.values.push_back(result.data());
  const SearchReport done = vote_each(
      fitted, ballot, test, vote, run,
      [&](std::size_t which, std::int64_t query) {
        return knn::PredictionPlace{nullptr, std::span(results[which]).subspan(static_cast<std::size_t>(query), 1)};
      },
      [](std::size_t, std::int64_t) {});
  if (report != nullptr) *report = done;
  return results;
} catch (...) {
  rethrow_as_error();
}

std::vector<double> KnnRegressor::predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run) const
    try {
  return predict_each(test, {vote.n_neighbors}, vote, run).front();
} catch (...) {
  rethrow_as_error();
}

SearchReport KnnRegressor::predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run,
                                   const RegressionSink& sink) const try {
  require_sink(sink);
  std::vector<double> block;
  const std::int64_t n_rows = knn::checked_rows(index_.fitted(), test);
  const knn::Fitted& fitted = index_.fitted();
  return vote_each(
      fitted, ballot_of(fitted, voters_, vote.weights, {vote.n_neighbors}), test, vote, run,
      [&](std::size_t, std::int64_t) {
        block.push_back(0.0);
        return knn::PredictionPlace{nullptr, std::span(block).last(1)};
      },
      [&](std::size_t, std::int64_t query) {
        if (static_cast<std::int64_t>(block.size()) < kPredictionsAtOnce && query + 1 < n_rows) return;
        sink(query + 1 - static_cast<std::int64_t>(block.size()), block);
        block.clear();
      });
} catch (...) {
  rethrow_as_error();
}

SearchReport KnnRegressor::predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run,
                                   const PredictionArrays& out) const try {
  return vote_into(index_.fitted(), ballot_of(index_.fitted(), voters_, vote.weights, {vote.n_neighbors}), test, vote,
                   run, out, 1);
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
