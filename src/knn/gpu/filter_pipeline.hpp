// What the pipelines of all filters on GPUs share: blocks of queries, votes, the report, and the queries that a filter
// leaves to the reference. Each filter decides how the queries of a block become batches on the GPUs.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "device/pinned_pool.hpp"
#include "knn/engine/pipeline.hpp"
#include "knn/gpu/filter_work.hpp"
#include "knn/gpu/found_lists.hpp"
#include "knn/gpu/gpu_voters.hpp"
#include "knn/gpu/uncertified_queries.hpp"
#include "knn/vote/gpu_votes.hpp"
#include "stope/error.hpp"

namespace stope::knn {

class GpuFilterPipeline : public SearchPipeline {
 public:
  GpuFilterPipeline(const GpuFilterPipeline&) = delete;
  GpuFilterPipeline& operator=(const GpuFilterPipeline&) = delete;

  int blocks() const final { return static_cast<int>(blocks_.size()); }
  bool keeps_lists() const override { return votes_; }
  bool lists_vary() const final { return vary_; }

  std::optional<ImageNeed> begin(int which, const QueryBlock& queries, const Selection& selection,
                                 const QueryEncoder& encode) final;
  std::optional<ImageNeed> finish(int which, Neighbors& out) override;
  std::optional<ImageNeed> finish_kept(int which, Outcome& out) final;
  void report(SearchReport& report) const final;

 protected:
  struct Block {
    device::Pinned<double> rows;  // encoded queries; empty where they are not held
    QueryBlock queries;           // points to `rows`, or to null
    const Selection* selection = nullptr;
    const QueryEncoder* encode = nullptr;
    std::vector<std::int32_t> uncertified;  // per query; queries in no batch stay uncertified
    Outcome outcome = {};                   // used where lists stay on the GPUs
    FoundLists found = {};                  // used where lists vary
  };

  /// The lists of a filter that varies them have `places` places; otherwise places is the selection's k.
  GpuFilterPipeline(const Fitted& fitted, const Plan& plan, std::int64_t n_queries, const RunOptions& run,
                    std::size_t n_blocks, std::int64_t places, bool vary)
      : fitted_(fitted),
        plan_(plan),
        run_(run),
        k_(places),
        n_queries_(n_queries),
        vary_(vary),
        blocks_(n_blocks),
        uncertified_(fitted_, plan_, run_) {}

  /// Queues the batches of a block, or returns the need that the images do not meet.
  virtual std::optional<ImageNeed> start(std::size_t which) = 0;
  /// Waits for the batches of a block. Lists go to `out`. Without `out`, lists that do not stay on a GPU go to the
  /// block's outcome.
  virtual std::optional<ImageNeed> collect(std::size_t which, Neighbors* out) = 0;
  /// Whether predictions stay in the caller's memory on a GPU.
  virtual bool predictions_stay() const { return false; }
  /// Adds the method's name and the work of the filter to a report.
  virtual void report_filter(SearchReport& report) const = 0;
  /// Threads for what finish() does.
  virtual ThreadPool& finish_threads() = 0;
  /// Whether a filter with more places a list can be made.
  virtual bool may_have_more_places() const { return false; }

  /// Lets the reference read the training rows of these filters, one per GPU of the plan. Each has the whole table, and
  /// lent_rows().
  template <class Filter>
  void lend_rows_of(const std::vector<std::shared_ptr<Filter>>& filters) {
    HeldRows held;
    for (const std::shared_ptr<Filter>& filter : filters) {
      held.on_gpus.push_back(filter->lent_rows());
      held.owners.push_back(filter);
    }
    uncertified_.read(std::move(held));
  }

  /// Takes memory for the rows of all blocks that are under way at once; release_rows() gives it back.
  void hold_rows(device::PinnedPool<double>& memory, int gpu);
  void release_rows(device::PinnedPool<double>& memory);

  struct FilterRoom {
    std::int64_t bytes, most_queries;
  };
  /// Lets the GPUs vote, if the search wants votes, all GPUs have room for what the training rows vote with, and
  /// predictions of `n_batches` batches keep within the run's memory limit. `room_of_filter` is called only where there
  /// is a limit.
  template <class RoomOf>
  void take_voters(const Selection& selection, std::int64_t n_batches, const RoomOf& room_of_filter) {
    if (selection.ballot == nullptr || selection.ballot->held == nullptr || vary_) return;
    if (run_.memory_limit > 0 && !fits_the_limit(*selection.ballot, room_of_filter(), n_batches)) return;
    votes_ = copy_voters(selection.ballot->held);
  }

  /// Calls submit(), with the vote in the query if there is one. Where the GPU has no room for predictions, it is
  /// called once more without the vote: the lists come back, and the host votes.
  template <class Query, class Submit>
  void submit_with_vote(const Block& block, int gpu, Query& query, const Submit& submit) const {
    if (!votes_) return submit();
    const cuda_abi::Vote vote = vote_of(*block.selection->ballot, voters_.at(gpu)->on_gpu());
    query.vote = &vote;
    try {
      submit();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      query.vote = nullptr;
      submit();
    }
  }

  /// Queries [begin, begin + n) of a block.
  struct Range {
    std::int64_t begin, n;
  };
  /// Takes everything but the lists from an answer.
  void take_answer(Block& block, Range range, const cuda_abi::FilterAnswer& answer, bool voted);
  /// Adds the lists of the answered queries to the block's outcome.
  void keep_lists(Block& block, Range range, const double* distances, const std::int32_t* rows);

  const Fitted& fitted_;
  const Plan plan_;
  const RunOptions& run_;
  std::int64_t k_, n_queries_;
  bool vary_;
  bool votes_ = false;  // predictions, not lists, come back from the GPUs
  std::vector<Block> blocks_;
  FilterWork work_;

 private:
  bool copy_voters(const std::shared_ptr<const HeldVoters>& voters);
  bool fits_the_limit(const Ballot& ballot, const FilterRoom& filter, std::int64_t n_batches) const;
  std::optional<ImageNeed> finish_varied(Block& block, Neighbors& out);
  bool too_many_are_unknown(const Block& block) const;
  bool more_places_pay(std::int64_t unknown, std::int64_t n, std::int64_t one_in) const;
  std::int64_t places_needed() const;
  bool answer_uncertified(const Block& block, const UncertifiedQueries::Take& take);

  UncertifiedQueries uncertified_;
  ListLengths lengths_;                                     // of all blocks so far, within a radius
  std::map<int, std::shared_ptr<const GpuVoters>> voters_;  // per GPU; batches under way read them
  std::mutex work_mutex_, outcome_mutex_;                   // answers come from several threads
};

}  // namespace stope::knn
