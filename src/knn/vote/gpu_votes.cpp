#include "knn/vote/gpu_votes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/checked.hpp"

namespace stope::knn {

cuda_abi::Vote vote_of(const Ballot& ballot, const cuda_abi::VotersOnGpu* voters) {
  return {ballot.rule, 0, ballot.ks.data(), static_cast<std::int64_t>(ballot.ks.size()), voters};
}

std::int64_t vote_bytes(const Ballot& ballot, std::int64_t batch_queries, std::int64_t n_batches) {
  constexpr std::int64_t kNumber = 8, kCode = 4;
  const std::int64_t row =
      (ballot.voters.codes != nullptr ? kCode : kNumber) + (ballot.voters.sample_weights != nullptr ? kNumber : 0);
  return checked::add(checked::mul(ballot.voters.n_rows, row),
                      checked::mul(checked::mul(batch_queries, n_batches), ballot.bytes_per_query()));
}

void shape_outcome(const Ballot& ballot, const QueryBlock& block, Outcome& outcome) {
  outcome.first_query = block.first;
  outcome.n_queries = block.n;
  outcome.listed.clear();
  outcome.lists.clear();
  outcome.placed = !ballot.values.empty();
  if (outcome.placed) return;
  const std::int64_t n = checked::mul(static_cast<std::int64_t>(ballot.ks.size()), block.n);
  outcome.values.resize(static_cast<std::size_t>(checked::mul(n, ballot.voters.n_values())));
  outcome.winners.resize(ballot.voters.codes != nullptr ? static_cast<std::size_t>(n) : 0);
}

void put_predictions(const Ballot& ballot, const Predicted& predicted, Outcome& outcome) {
  const std::int64_t n_values = ballot.voters.n_values(), n = predicted.n;
  const bool classes = ballot.voters.codes != nullptr;
  for (std::size_t j = 0; j < ballot.ks.size(); ++j) {
    const auto k_number = static_cast<std::int64_t>(j);
    const bool direct = !ballot.values.empty();
    const std::int64_t at =
        direct ? outcome.first_query + predicted.begin : k_number * outcome.n_queries + predicted.begin;
    std::copy_n(predicted.values + k_number * n * n_values, n * n_values,
                (direct ? ballot.values[j] : outcome.values.data()) + at * n_values);
    if (!classes) continue;
    std::copy_n(predicted.winners + k_number * n, n, (direct ? ballot.winners[j] : outcome.winners.data()) + at);
  }
}

void add_list(std::int64_t query, std::vector<Neighbor> list, Outcome& outcome) {
  outcome.listed.push_back(query);
  outcome.lists.push_back(std::move(list));
}

void sort_lists(Outcome& outcome) {
  std::vector<std::size_t> order(outcome.listed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return outcome.listed[a] < outcome.listed[b]; });
  std::vector<std::int64_t> listed;
  std::vector<std::vector<Neighbor>> lists;
  for (const std::size_t at : order) {
    listed.push_back(outcome.listed[at]);
    lists.push_back(std::move(outcome.lists[at]));
  }
  outcome.listed = std::move(listed);
  outcome.lists = std::move(lists);
}

}  // namespace stope::knn
