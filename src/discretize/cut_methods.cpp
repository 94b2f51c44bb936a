// Chooses the method and the columns.
#include "discretize/cut_methods.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "device/auto_gpu.hpp"
#include "device/backend.hpp"
#include "discretize/auto_device.hpp"
#include "discretize/crew.hpp"
#include "discretize/cuda_global.hpp"
#include "discretize/cuda_sets.hpp"
#include "discretize/interval_method.hpp"
#include "discretize/md_global.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/problem.hpp"
#include "discretize/sorted_rows.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope::discretize {
namespace {

std::unique_ptr<IntervalMethod> make_method(const DecisionProblem& problem, const DiscretizeOptions& options) {
  switch (options.method) {
    case DiscretizeMethod::mdlp: return make_mdlp(problem);
    case DiscretizeMethod::chimerge: return make_chimerge(problem, options.confidence, options.min_intervals);
    case DiscretizeMethod::equal_width: return make_equal_width(options.n_bins);
    case DiscretizeMethod::equal_frequency: return make_equal_frequency(options.n_bins);
    case DiscretizeMethod::md_global:
    case DiscretizeMethod::md_local: break;
  }
  throw Error(ErrorCode::internal, "this method takes all attributes together");
}

// One thread's memory.
struct Scratch {
  SortScratch sort;
  Buffer<std::uint32_t> rows;
  SortedValues column;
};

constexpr std::int64_t kScratchBytesPerRow = kSortBytesPerRow + std::int64_t{sizeof(std::uint32_t)} +
                                             std::int64_t{sizeof(double) + sizeof(std::int32_t) + sizeof(std::int64_t)};

void allocate(std::int64_t n_rows, Storage storage, Scratch& scratch) {
  if (scratch.rows.size() == n_rows) return;
  scratch.sort.storage = storage;
  scratch.rows = Buffer<std::uint32_t>(n_rows, storage);
  scratch.column.values = Buffer<double>(n_rows, storage);
  scratch.column.classes = Buffer<std::int32_t>(n_rows, storage);
  scratch.column.weights = Buffer<std::int64_t>(n_rows, storage);
}

void sort_present(const DecisionProblem& problem, const Attribute& attribute, Scratch& scratch) {
  SortedValues& column = scratch.column;
  column.n = 0;
  attribute.with_numbers([&](const auto* x) {
    sort_rows(x, problem.n_rows, scratch.rows.data(), scratch.sort);
    for (const std::uint32_t row : scratch.rows) {
      if (x[row] != x[row]) continue;
      column.values[column.n] = static_cast<double>(x[row]);
      if (!problem.classes.empty()) column.classes[column.n] = problem.class_of[row];
      column.weights[column.n++] = problem.weight(row);
    }
  });
}

AttributeCuts every_value(const Attribute& attribute, std::int64_t n_rows) {
  std::vector<char> occurs(attribute.values.size());
  const std::int32_t* codes = attribute.codes();
  for (std::int64_t row = 0; row < n_rows; ++row) occurs[static_cast<std::size_t>(codes[row])] = 1;
  AttributeCuts cuts{attribute.name, true, {}, {}};
  for (std::size_t v = 0; v < occurs.size(); ++v) {
    if (occurs[v] != 0) cuts.values.push_back(attribute.values[v]);
  }
  return cuts;
}

// Finds the cuts of some attributes, each by itself.
void each_by_itself(const DecisionProblem& problem, const DiscretizeOptions& options, const RunOptions& run,
                    const std::vector<std::int64_t>& wanted, CutSet& cuts) {
  const std::unique_ptr<IntervalMethod> method = make_method(problem, options);
  const std::int64_t of_column = checked::mul(problem.n_rows, kScratchBytesPerRow);
  const std::int64_t of_method = method->bytes(problem.n_rows);
  const Storage storage = storage_within(of_column, memory_budget(run));
  require_memory("this method of discretization, with " + std::to_string(problem.n_rows) + " rows, needs", of_method,
                 run);
  ThreadPool pool(threads_within(checked::add(of_column, of_method), run));
  std::vector<Scratch> scratch(static_cast<std::size_t>(pool.size()));
  const std::int64_t work = checked::mul(std::ssize(wanted), problem.n_rows);
  tell_progress(run, "cuts", 0, work);  // a first column may take long
  PhaseProgress progress(run, "cuts", work);
  const auto find = [&](std::int64_t begin, std::int64_t end, int worker) {
    Scratch& mine = scratch[static_cast<std::size_t>(worker)];
    for (std::int64_t i = begin; i < end; ++i) {
      const auto a = static_cast<std::size_t>(wanted[static_cast<std::size_t>(i)]);
      const Attribute& attribute = problem.attributes[a];
      TaskProgress task(progress, run.cancel, problem.n_rows);
      if (attribute.symbolic) {
        cuts[a] = every_value(attribute, problem.n_rows);
      } else {
        allocate(problem.n_rows, storage, mine);
        sort_present(problem, attribute, mine);
        cuts[a] = {attribute.name, false, method->cuts(mine.column, task), {}};
      }
      task.finish();
    }
  };
  for_tasks_of_columns(std::ssize(wanted), problem.n_rows, pool, run.cancel, find, &progress);
}

std::vector<std::int64_t> all_attributes(const DecisionProblem& problem) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(problem.n_attributes()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

// Finds a set of cuts by find(gpus): on GPUs that are named or pay, or on the CPU, without one. `why_not` says what
// GPUs lack, or is null. The report says who found it, and why.
template <class Find>
void find_on_device(const char* why_not, const device::Offer& offer, const RunOptions& run, BackendReport& report,
                    const Find& find) {
  device::BackendChoice choice = device::choose_backend(run);
  const bool named = choice.backend == device::Backend::cuda;
  if (device::is_automatic(run)) {
    const int threads = run.threads > 0 ? run.threads : available_threads();
    choice = choice_of(
        why_not != nullptr ? device::decide_for_cpu(why_not) : device::decide({offer.on_cpu / threads, offer.on_gpu}),
        choice);
  }
  report.device_reason = choice.device_reason;
  if (named && why_not != nullptr) {
    report.reason = why_not;
    return find(std::vector<int>());
  }
  if (choice.gpus.empty()) return find(std::vector<int>());
  try {
    find(choice.gpus);
    report.backend = choice.name;
    report.reason = choice.reason;
  } catch (const Error& error) {
    report.device_reason = device::give_up_gpu(error, named);
    find(std::vector<int>());
  }
}

CutSet global(const DecisionProblem& problem, const DiscretizeOptions& options, const RunOptions& run,
              BackendReport& report) {
  if (options.max_cuts < 0) {
    throw Error(ErrorCode::invalid_argument,
                "at most " + std::to_string(options.max_cuts) + " cuts: the number is less than 0",
                {.option = "max_cuts"});
  }
  std::vector<GlobalCut> chosen;
  find_on_device(why_no_global_on_gpu(problem), global_offer(NumericColumns(problem)), run, report,
                 [&](const std::vector<int>& gpus) { chosen = global_cuts(problem, options.max_cuts, run, gpus); });
  std::vector<std::vector<std::int32_t>> values(problem.attributes.size());
  CutSet cuts(problem.attributes.size());
  for (const GlobalCut& one : chosen) {
    const auto a = static_cast<std::size_t>(one.attribute);
    if (problem.attributes[a].symbolic) {
      values[a].push_back(one.value);
    } else {
      cuts[a].numbers.push_back(one.cut);
    }
  }
  for (std::size_t a = 0; a < cuts.size(); ++a) {
    const Attribute& attribute = problem.attributes[a];
    cuts[a].name = attribute.name;
    cuts[a].symbolic = attribute.symbolic;
    std::sort(cuts[a].numbers.begin(), cuts[a].numbers.end());
    std::sort(values[a].begin(), values[a].end());
    for (const std::int32_t v : values[a]) cuts[a].values.push_back(attribute.values[static_cast<std::size_t>(v)]);
  }
  return cuts;
}

}  // namespace

bool looks_at_classes(DiscretizeMethod method) {
  return method != DiscretizeMethod::equal_width && method != DiscretizeMethod::equal_frequency;
}

CutSet cuts_without_tree(const Table& table, const DiscretizeOptions& options, const RunOptions& run,
                         BackendReport& report) {
  const auto target = looks_at_classes(options.method) ? Target::needed : Target::unused;
  const DecisionProblem problem = make_problem(table, options.missing, run, target);
  require_telling_names(table, problem);
  report.backend = "scalar";
  report.device_reason = device::auto_reason(run, "GPUs find no sets of cuts by this method");
  CutSet cuts(problem.attributes.size());
  if (options.method == DiscretizeMethod::md_global) {
    cuts = global(problem, options, run, report);
  } else if (options.method == DiscretizeMethod::mdlp) {
    const device::Offer offer = mdlp_offer(NumericColumns(problem), n_present_classes(problem), problem.weighted);
    find_on_device(why_no_mdlp_on_gpu(problem), offer, run, report, [&](const std::vector<int>& gpus) {
      const std::vector<std::int64_t> wanted =
          gpus.empty() ? all_attributes(problem) : mdlp_on_gpus(problem, gpus, run, cuts);
      if (!wanted.empty()) each_by_itself(problem, options, run, wanted, cuts);
    });
  } else {
    each_by_itself(problem, options, run, all_attributes(problem), cuts);
  }
  std::erase_if(cuts, [](const AttributeCuts& one) { return one.size() == 0; });
  return cuts;
}

}  // namespace stope::discretize
