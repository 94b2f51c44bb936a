// Votes on lists that the caller has (stope/vote.hpp). The lists and voters come from outside, so that every row, class
// and weight is checked before it is used.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/number_text.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "knn/vote/ballot.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "stope/vote.hpp"

namespace stope {
namespace {

// Entries voted by one task. Starting a thread takes about as long as voting on this many.
constexpr std::int64_t kEntriesPerTask = std::int64_t{1} << 15;

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorCode::invalid_argument, problem);
}

void check_weight(double weight, const std::string& name) {
  if (weight >= 0.0 && !std::isinf(weight)) return;
  refuse(name + " is " + (std::isnan(weight) ? "missing" : number_text(weight)) + "; weights are finite and >= 0");
}

// The lists and what votes on them; view(i) is list i, checked.
class CheckedLists {
 public:
  CheckedLists(const Neighbors& lists, const knn::VoterView& voters, const ListVoteOptions& vote)
      : lists_(lists), voters_(voters), vote_(vote) {
    const auto n_entries = static_cast<std::int64_t>(lists.indices.size());
    const std::vector<std::int64_t>& offsets = lists.offsets;
    if (lists.distances.size() != lists.indices.size() || offsets.empty() || offsets.front() != 0 ||
        offsets.back() != n_entries || !std::is_sorted(offsets.begin(), offsets.end())) {
      refuse("the offsets of the neighbour lists do not fit their " + std::to_string(n_entries) + " rows and " +
             std::to_string(lists.distances.size()) + " distances");
    }
    if (vote.n_neighbors < 0) refuse("n_neighbors is " + std::to_string(vote.n_neighbors) + "; it is 0 or more");
    if (!vote.list_weights.empty() && vote.list_weights.size() != lists.indices.size()) {
      refuse(std::to_string(vote.list_weights.size()) + " weights for " + std::to_string(n_entries) + " neighbours");
    }
    if (!vote.list_weights.empty() && vote.compat == Compat::rapidminer) {
      refuse("weights of neighbours have no meaning under RapidMiner's rules");
    }
  }

  std::int64_t size() const { return lists_.n_queries(); }

  knn::VoteRule rule() const {
    return vote_.list_weights.empty() ? knn::vote_rule(vote_.weights, vote_.compat) : knn::VoteRule::given;
  }

  knn::NeighborView<std::int64_t> view(std::int64_t list) const {
    const std::int64_t begin = lists_.offsets[static_cast<std::size_t>(list)];
    const std::int64_t length = lists_.offsets[static_cast<std::size_t>(list) + 1] - begin;
    const std::int64_t k = vote_.n_neighbors > 0 ? vote_.n_neighbors : length;
    if (length > k && vote_.compat == Compat::rapidminer) {
      refuse("list " + std::to_string(list) + " has " + std::to_string(length) + " neighbours, more than the " +
             std::to_string(k) + " asked for: RapidMiner's lists are in no order that could be cut");
    }
    const std::int64_t n = std::min(length, k);
    for (std::int64_t i = begin; i < begin + n; ++i) check_entry(list, i);
    return {lists_.distances.data() + begin, lists_.indices.data() + begin, n, k,
            vote_.list_weights.empty() ? nullptr : vote_.list_weights.data() + begin};
  }

 private:
  void check_entry(std::int64_t list, std::int64_t entry) const {
    const std::int64_t row = lists_.indices[static_cast<std::size_t>(entry)];
    const auto where = [&] { return "list " + std::to_string(list) + ", training row " + std::to_string(row) + ": "; };
    if (row < 0 || row >= voters_.n_rows) refuse(where() + "there are " + std::to_string(voters_.n_rows) + " rows");
    const bool rapidminer = vote_.compat == Compat::rapidminer;
    if (voters_.codes != nullptr) {
      const std::int32_t code = voters_.codes[row];
      if (code == kMissingCode && !rapidminer) refuse(where() + "its class is missing");
      if (code < kMissingCode || code >= voters_.n_classes) {
        refuse(where() + "code " + std::to_string(code) + " is none of " + std::to_string(voters_.n_classes) +
               " classes");
      }
    } else if (std::isnan(voters_.targets[row]) && !rapidminer) {
      refuse(where() + "its target is missing");
    }
    if (voters_.sample_weights != nullptr && !rapidminer) {
      check_weight(voters_.sample_weights[row], where() + "its sample weight");
    }
    if (!vote_.list_weights.empty()) {
      check_weight(vote_.list_weights[static_cast<std::size_t>(entry)], where() + "its weight in the list");
    }
  }

  const Neighbors& lists_;
  const knn::VoterView& voters_;
  const ListVoteOptions& vote_;
};

// Returns the sample weights of n_rows rows, or null.
const double* sample_weights_of(const Voters& voters, std::size_t n_rows) {
  if (voters.sample_weights.empty()) return nullptr;
  if (voters.sample_weights.size() != n_rows) {
    refuse(std::to_string(voters.sample_weights.size()) + " sample weights for " + std::to_string(n_rows) + " rows");
  }
  return voters.sample_weights.data();
}

// Casts the vote of every list. place(i) returns where its numbers go, and take(i, class) gets its class.
template <class Place, class Take>
void vote_all(const CheckedLists& lists, const knn::VoterView& voters, std::int64_t n_entries, const RunOptions& run,
              const Place& place, const Take& take) {
  const knn::Ballot ballot{lists.rule(), voters, {}};
  const std::int64_t work = checked::add(n_entries, checked::mul(lists.size(), voters.n_values()));
  const std::int64_t n_tasks = std::min(lists.size(), checked::ceil_div(work, kEntriesPerTask));
  ThreadPool pool(n_tasks > 1 ? run.threads : 1);
  const PhaseProgress phase(run, "vote", 0);
  pool.parallel_for(n_tasks, run.cancel, [&](std::int64_t task, int) {
    const std::int64_t end = lists.size() * (task + 1) / n_tasks;
    for (std::int64_t i = lists.size() * task / n_tasks; i < end; ++i) {
      take(i, knn::cast_vote(ballot, lists.view(i), place(i)));
    }
  });
}

}  // namespace

Classification vote_classes(const Neighbors& lists, const Values& classes, const Voters& voters,
                            const ListVoteOptions& vote, const RunOptions& run) try {
  const std::int64_t n_classes = classes.size();
  static constexpr std::int32_t kNobody = kMissingCode;  // voters without rows still vote for classes
  const knn::VoterView view{voters.codes.empty() ? &kNobody : voters.codes.data(), n_classes, nullptr,
                            sample_weights_of(voters, voters.codes.size()),
                            static_cast<std::int64_t>(voters.codes.size())};
  const CheckedLists checked_lists(lists, view, vote);
  knn::require_room_for_confidences(checked_lists.size(), n_classes, 1, run);
  Classification result = knn::blank_classification(classes, checked_lists.size());
  vote_all(
      checked_lists, view, static_cast<std::int64_t>(lists.indices.size()), run,
      [&](std::int64_t i) { return knn::confidences_of(result, i); },
      [&](std::int64_t i, std::int32_t winner) { result.codes[static_cast<std::size_t>(i)] = winner; });
  return result;
} catch (...) {
  rethrow_as_error();
}

std::vector<double> vote_means(const Neighbors& lists, const Voters& voters, const ListVoteOptions& vote,
                               const RunOptions& run) try {
  const knn::VoterView view{nullptr, 0, voters.targets.data(), sample_weights_of(voters, voters.targets.size()),
                            static_cast<std::int64_t>(voters.targets.size())};
  const CheckedLists checked_lists(lists, view, vote);
  std::vector<double> means(static_cast<std::size_t>(checked_lists.size()));
  vote_all(
      checked_lists, view, static_cast<std::int64_t>(lists.indices.size()), run,
      [&](std::int64_t i) { return std::span(means).subspan(static_cast<std::size_t>(i), 1); },
      [](std::int64_t, std::int32_t) {});
  return means;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
