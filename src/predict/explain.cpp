// Explained predictions of k-NN (stope/explain.hpp): one search, the votes as they were cast, distances in terms.
#include "stope/explain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "base/sink.hpp"
#include "knn/fitted.hpp"
#include "knn/search/queries.hpp"
#include "knn/vote/ballot.hpp"
#include "predict/explain.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The weight of every vote of a list, by the rule that counts it.
std::vector<double> vote_weights_of(const knn::Ballot& ballot, const knn::NeighborView<std::int64_t>& list) {
  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(list.n));
  const bool classes = ballot.voters.codes != nullptr;
  const bool shares = ballot.rule == knn::VoteRule::rapidminer_shares && !(classes && list.k == 1);
  if (shares || ballot.rule == knn::VoteRule::rapidminer_uniform || ballot.rule == knn::VoteRule::rapidminer_shares) {
    const knn::RapidMinerShares rule(list);
    for (std::int64_t i = 0; i < list.n; ++i) {
      weights.push_back(shares ? rule.share(list.distances[i]) / rule.divisor() : 1.0 / static_cast<double>(list.k));
    }
    return weights;
  }
  const knn::NeighborWeights rule(ballot.rule, list);
  for (std::int64_t i = 0; i < list.n; ++i) {
    weights.push_back(rule.of(list, i) * ballot.voters.sample_weight(list.rows[i]));
  }
  return weights;
}

// Rows of the training table and of the queries, one at a time, and the terms of their distance.
class Terms {
 public:
  Terms(const knn::Fitted& fitted, const Table& rows, const RunOptions& run)
      : fitted_(fitted),
        queries_(knn::make_query_source(fitted, rows, run)),
        query_(static_cast<std::size_t>(fitted.width())),
        train_(query_.size()) {}

  void take_query(std::int64_t row) { queries_->encode(row, row + 1, query_.data()); }

  // Appends the terms of one neighbour; nothing where the measure has none.
  void append(std::int64_t train_index, std::vector<double>& terms) {
    const double* train = train_.data();
    if (fitted_.resident()) {
      train = fitted_.rows() + train_index * fitted_.width();
    } else {
      fitted_.encode(train_index, train_index + 1, train_.data());
    }
    const std::size_t before = terms.size();
    terms.resize(before + query_.size());
    if (fitted_.kernel().split(train, query_.data(), terms.data() + before) == nullptr) terms.resize(before);
  }

 private:
  const knn::Fitted& fitted_;
  std::unique_ptr<knn::QuerySource> queries_;
  std::vector<double> query_, train_;
};

void add_votes(const knn::Ballot& ballot, const knn::NeighborView<std::int64_t>& list, RowExplanation& explanation) {
  const std::vector<double> weights = vote_weights_of(ballot, list);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    explanation.votes[i].weight = weights[i];
    explanation.votes[i].share = total == 0.0 ? kNone : weights[i] / total;
  }
  std::vector<double> values(static_cast<std::size_t>(ballot.voters.n_values()), 0.0);
  explanation.code = knn::cast_vote(ballot, list, values);
  if (ballot.voters.codes == nullptr) explanation.number = values.front();
}

}  // namespace

namespace predict {

SearchReport explain(const KnnIndex& index, const knn::HeldVoters* voters, const NeighborsModel& model,
                     const Table& rows, const RunOptions& run, const ExplanationSink& sink) {
  require_sink(sink);
  const knn::Fitted& fitted = index.fitted();
  knn::Ballot ballot{knn::vote_rule(model.weights, fitted.options().compat), {}, {model.n_neighbors}};
  if (voters != nullptr) ballot.voters = voters->view();
  Terms terms(fitted, rows, run);
  const SearchOptions search{.n_neighbors = model.n_neighbors};
  return index.kneighbors(rows, search, run, [&](const Neighbors& block) {
    for (std::int64_t i = 0; i < block.n_queries(); ++i) {
      run.cancel.check();
      const auto begin = static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i)]);
      const std::int64_t n = block.offsets[static_cast<std::size_t>(i) + 1] - static_cast<std::int64_t>(begin);
      RowExplanation explanation;
      explanation.row = block.first_query + i;
      terms.take_query(explanation.row);
      for (std::int64_t at = 0; at < n; ++at) {
        const std::size_t entry = begin + static_cast<std::size_t>(at);
        explanation.votes.push_back({block.indices[entry], block.distances[entry], kNone, kNone});
        terms.append(block.indices[entry], explanation.terms);
      }
      if (voters != nullptr) {
        add_votes(ballot, {block.distances.data() + begin, block.indices.data() + begin, n, model.n_neighbors},
                  explanation);
      }
      sink(explanation);
    }
  });
}

}  // namespace predict

std::vector<std::string> explained_features(const KnnIndex& index) try {
  std::vector<std::string> names;
  names.reserve(index.fitted().features().size());
  for (const FeatureSpec& feature : index.fitted().features()) names.push_back(feature.name);
  return names;
} catch (...) {
  rethrow_as_error();
}

std::string terms_add_up_to(const KnnIndex& index) try {
  const knn::Fitted& fitted = index.fitted();
  const std::vector<double> zeros(static_cast<std::size_t>(fitted.width()), 0.0);
  std::vector<double> terms(zeros.size());
  const char* const whole = fitted.kernel().split(zeros.data(), zeros.data(), terms.data());
  return whole == nullptr ? "" : whole;
} catch (...) {
  rethrow_as_error();
}

std::vector<AttributeShare> attribute_shares(const RowExplanation& explanation, std::int64_t vote) try {
  if (vote < 0 || vote >= std::ssize(explanation.votes)) {
    throw Error(ErrorCode::invalid_argument,
                "vote " + std::to_string(vote) + " of " + std::to_string(explanation.votes.size()) + " is none");
  }
  const std::size_t width = explanation.terms.size() / explanation.votes.size();
  const std::span terms = std::span(explanation.terms).subspan(static_cast<std::size_t>(vote) * width, width);
  const double total = std::accumulate(terms.begin(), terms.end(), 0.0);
  std::vector<AttributeShare> shares;
  if (!(std::fabs(total) > 0.0) || std::isinf(total)) return shares;
  shares.reserve(width);
  for (std::size_t i = 0; i < width; ++i) shares.push_back({static_cast<std::int64_t>(i), terms[i], terms[i] / total});
  std::stable_sort(shares.begin(), shares.end(),
                   [](const AttributeShare& a, const AttributeShare& b) { return a.share > b.share; });
  return shares;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
