// The search for the best cut of every attribute (discretize/best_cut.hpp).
#include "discretize/best_cut.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "device/auto_gpu.hpp"
#include "device/backend.hpp"
#include "discretize/auto_device.hpp"
#include "discretize/crew.hpp"
#include "discretize/cuda_cuts.hpp"
#include "discretize/cuda_sets.hpp"
#include "discretize/group_sorter.hpp"
#include "discretize/permutation_test.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/scorer.hpp"
#include "discretize/stage_columns.hpp"
#include "discretize/value_order.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope::discretize {
namespace {

class Search {
 public:
  Search(const DecisionProblem& problem, Criterion criterion, const device::Backend backend)
      : problem_(problem), scorer_(problem, criterion), kernels_(network_kernels(backend)), ranks_(problem) {
    for (const std::int64_t n : problem.class_totals) {
      if (n == 0) continue;
      if (n_present_++ == 0) n_first_ = n;
    }
    two_classes_ = n_present_ == 2 && !problem.weighted && criterion == Criterion::discernibility;
  }

  const DecisionProblem& problem() const { return problem_; }
  const Scorer& scorer() const { return scorer_; }
  const NetworkKernels* kernels() const { return kernels_; }
  const ClassRanks& ranks() const { return ranks_; }
  bool two_classes() const { return two_classes_; }
  std::int64_t n_first() const { return n_first_; }

 private:
  const DecisionProblem& problem_;
  Scorer scorer_;
  const NetworkKernels* kernels_;
  ClassRanks ranks_;
  int n_present_ = 0;
  std::int64_t n_first_ = 0;
  bool two_classes_ = false;
};

// The work of one thread on its columns.
class Worker {
 public:
  Worker(const Search& search, const PermutationTest* permutations, Buffer<AttributeBest>& best, Storage storage)
      : search_(search),
        problem_(search.problem()),
        permutations_(permutations),
        best_(best),
        sorter_(search.kernels(), problem_.n_rows, search.ranks(), storage),
        rows_(problem_.n_rows, storage),
        differs_(problem_.n_rows, storage) {
    if (permutations != nullptr) tally_ = permutations->make_tally();
  }

  PermutationTest::Tally& tally() { return tally_; }

  /// The crew sorts numeric columns together with this thread.
  void run(std::span<const std::int64_t> wanted, const Crew& crew = {}) {
    std::vector<std::int64_t> doubles, floats;
    for (const std::int64_t a : wanted) {
      best_[a] = {};
      const Attribute& attribute = problem_.attributes[static_cast<std::size_t>(a)];
      if (attribute.symbolic) {
        symbolic(a);
      } else {
        (std::holds_alternative<Buffer<float>>(attribute.data) ? floats : doubles).push_back(a);
      }
    }
    for (const std::vector<std::int64_t>* all : {&doubles, &floats}) {
      const std::span<const std::int64_t> attributes(*all);
      for (std::size_t i = 0; i < attributes.size(); i += static_cast<std::size_t>(sorter_.lanes())) {
        numeric(attributes.subspan(i, std::min(attributes.size() - i, static_cast<std::size_t>(sorter_.lanes()))),
                crew);
      }
    }
  }

 private:
  void numeric(std::span<const std::int64_t> attributes, const Crew& crew) {
    const Attribute* columns[kMostLanes];
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      columns[i] = &problem_.attributes[static_cast<std::size_t>(attributes[i])];
    }
    sorter_.sort({columns, attributes.size()});
    NetworkBest network{};
    if (search_.two_classes() && sorter_.lanes() > 1) sorter_.best_of_two_classes(search_.n_first(), network);
    for (int lane = 0; lane < static_cast<int>(attributes.size()); ++lane) {
      const bool known = search_.two_classes() && sorter_.network_decides(lane);
      if (!known || permutations_ != nullptr) sorter_.order_of(lane, rows_.data(), differs_.data(), crew);
      AttributeBest& best = best_[attributes[static_cast<std::size_t>(lane)]];
      if (known) {
        settle_network(lane, *columns[lane], network, best);
      } else {
        settle_scan(*columns[lane], best);
      }
      if (permutations_ == nullptr) continue;
      permutations_->numeric(attributes[static_cast<std::size_t>(lane)], best.worth,
                             {rows_.data(), differs_.data(), problem_.n_rows}, tally_);
    }
  }

  void settle_network(int lane, const Attribute& attribute, const NetworkBest& network, AttributeBest& best) const {
    const auto position = static_cast<std::int64_t>(network.position[lane]);
    if (position < 0) return;
    best.found = true;
    best.worth.w = static_cast<std::int64_t>(network.w[lane]);
    best.cut = cut_of(attribute, sorter_.network_row(lane, position), sorter_.network_row(lane, position + 1));
  }

  void settle_scan(const Attribute& attribute, AttributeBest& best) const {
    const OrderedColumn column{rows_.data(), differs_.data(), problem_.n_rows};
    const ScoredCut found = search_.scorer().best_cut(column, search_.scorer().true_labels());
    if (found.position < 0) return;
    best.found = true;
    best.worth = found.worth;
    best.cut = cut_of(attribute, rows_[found.position], rows_[found.position + 1]);
  }

  static double cut_of(const Attribute& attribute, std::uint32_t low, std::uint32_t high) {
    return attribute.with_numbers(
        [&](const auto* x) { return cut_between(static_cast<double>(x[low]), static_cast<double>(x[high])); });
  }

  void symbolic(std::int64_t index) {
    const Attribute& attribute = problem_.attributes[static_cast<std::size_t>(index)];
    AttributeBest& best = best_[index];
    const ScoredCut found = search_.scorer().best_value(attribute, search_.scorer().true_labels());
    if (found.position >= 0) {
      best.found = true;
      best.worth = found.worth;
      best.value = static_cast<std::int32_t>(found.position);
    }
    if (permutations_ != nullptr) permutations_->symbolic(index, best.worth, attribute, tally_);
  }

  const Search& search_;
  const DecisionProblem& problem_;
  const PermutationTest* permutations_;
  Buffer<AttributeBest>& best_;
  GroupSorter sorter_;
  Buffer<std::uint32_t> rows_;
  Buffer<std::uint8_t> differs_;
  PermutationTest::Tally tally_;
};

// Decides under --device auto. `why_not` says what GPUs lack for the job, or is null.
device::Decision decide(const DecisionProblem& problem, Criterion criterion, std::int64_t n_permutations,
                        const char* why_not, const RunOptions& run) {
  if (why_not != nullptr) return device::decide_for_cpu(why_not);
  if (problem.pure()) return device::decide_for_cpu("there is one class, and nothing to cut");
  const int threads = run.threads > 0 ? run.threads : available_threads();
  const NumericColumns columns(problem);
  const std::int64_t n_classes = n_present_classes(problem);
  if (problem.weighted) {
    const device::Offer offer = weighted_cuts_offer(columns, criterion, n_classes);
    return device::decide({offer.on_cpu / threads, offer.on_gpu});
  }
  const double values = columns.values(), trials = values * static_cast<double>(n_permutations);
  const double of_cpu = cut_seconds(columns.n_rows, columns.n) + gain_seconds(values, criterion, n_classes) +
                        trial_seconds(trials, n_classes);
  const double of_gpu = gpu_call_seconds(columns.bytes, columns.n_rows) +
                        gpu_gain_seconds(values, criterion, n_classes) + gpu_trial_seconds(trials, n_classes);
  return device::decide({of_cpu / threads, of_gpu});
}

// Finds cuts on GPUs, named or taken under auto, and returns the attributes that are left.
std::vector<std::int64_t> find_on_gpus(const DecisionProblem& problem, Criterion criterion,
                                       const device::BackendChoice& choice, const RunOptions& run,
                                       GpuPermutations& permutations, BestCutRun& result) {
  const bool named = choice.backend == device::Backend::cuda;
  const char* const why_not = why_not_on_gpu(problem, criterion, permutations.n);
  if (named && why_not != nullptr)
    throw Error(ErrorCode::unsupported, std::string(why_not) + ": device auto or cpu computes them",
                {.option = "device"});
  BackendReport& report = result.report;
  std::vector<int> gpus = choice.gpus;
  std::string gpu_name = choice.reason;
  if (device::is_automatic(run)) {
    const device::Decision decision = decide(problem, criterion, permutations.n, why_not, run);
    report.device_reason = decision.reason();
    gpus = decision.gpus();
    if (decision.gpu != nullptr) gpu_name = decision.gpu_name();
  }
  if (!gpus.empty()) {
    try {
      auto left = best_cuts_on_gpus(problem, criterion, gpus, run, result.best, permutations, result.gpu_seconds);
      report.backend = "cuda";
      report.reason = gpu_name;
      return left;
    } catch (const Error& error) {
      report.device_reason = device::give_up_gpu(error, named);
      result.gpu_seconds = 0.0;
      permutations.as_good.clear();
      permutations.highest.clear();
    }
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(problem.n_attributes()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

}  // namespace

BestCutRun best_cut_of_each(const DecisionProblem& problem, Criterion criterion, std::int64_t n_permutations,
                            std::uint64_t seed, const RunOptions& run) {
  const device::BackendChoice choice = device::choose_backend(run);
  if (n_permutations > 0) PermutationTest::require_room(n_permutations, run);
  BestCutRun result;
  result.best = Buffer<AttributeBest>(problem.n_attributes());  // whoever settles an attribute writes all of it
  prefer_huge_pages(result.best.data(), static_cast<std::size_t>(result.best.size()) * sizeof(AttributeBest));
  GpuPermutations on_gpus{.n = n_permutations, .seed = seed};
  const std::vector<std::int64_t> wanted = find_on_gpus(problem, criterion, choice, run, on_gpus, result);
  const auto n_wanted = static_cast<std::int64_t>(wanted.size());
  const std::int64_t bytes = checked::mul(problem.n_rows, kSorterBytesPerRow);
  if (n_wanted == 0 && n_permutations == 0 && !result.report.backend.empty()) {  // no scorer with its tables is needed
    result.report.threads = threads_within(bytes, run);
    return result;
  }
  const Search search(
      problem, criterion,
      choice.backend == device::Backend::cuda ? device::choose_cpu_backend("").backend : choice.backend);
  const Storage storage = storage_within(bytes, memory_budget(run));
  ThreadPool pool(threads_within(bytes, run));
  if (result.report.backend.empty()) {
    result.report.backend = search.kernels() == nullptr ? choice.name : search.kernels()->name;
    if (choice.forced) result.report.reason = choice.reason;
  }
  result.report.threads = pool.size();
  std::unique_ptr<PermutationTest> permutations;
  if (n_permutations > 0) {
    permutations = std::make_unique<PermutationTest>(problem, search.scorer(), search.kernels(), n_permutations, seed,
                                                     pool.size(), run);
  }
  // Permutations take far longer than the sort, so columns need no crew.
  const std::int64_t n_alone = permutations ? n_wanted : columns_of_one_thread(n_wanted, problem.n_rows, pool.size());
  std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(pool.size()));
  // Progress counts each column once per permutation.
  PhaseProgress progress(run, permutations ? "permutations" : "cuts",
                         n_wanted * std::max<std::int64_t>(n_permutations, 1));
  const auto each_column = [&] {
    const std::int64_t times = permutations ? permutations->in_round() : 1;
    const auto look_at = [&](std::int64_t begin, std::int64_t end, int number, const Crew& crew) {
      auto& worker = workers[static_cast<std::size_t>(number)];
      if (!worker) worker = std::make_unique<Worker>(search, permutations.get(), result.best, storage);
      worker->run(std::span(wanted).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                  crew);
      progress.add((end - begin) * times);
    };
    for_tasks_of_columns(
        n_alone, problem.n_rows, pool, run.cancel,
        [&](std::int64_t begin, std::int64_t end, int number) { look_at(begin, end, number, {}); }, &progress);
    for (std::int64_t i = n_alone; i < n_wanted; ++i) look_at(i, i + 1, 0, Crew(pool, run.cancel));
  };
  if (!permutations) {
    each_column();
    return result;
  }
  while (n_wanted > 0 && permutations->next_round()) {
    each_column();
    for (const auto& worker : workers) {
      if (worker) permutations->collect(worker->tally());
    }
  }
  permutations->add(on_gpus);
  result.counts = std::move(*permutations).counts(result.best);
  return result;
}

}  // namespace stope::discretize
