// Times best cuts, permutations, sets of cuts and trees on a GPU, on a made table of float32 columns, and compares them
// with the CPU's. Prints one JSON object for discretize_gpu.py.
//
//   discretize_gpu_bench job=cuts|pairs|gini|entropy|permutations|mdlp|md-global|tree|gini-tree|entropy-tree
//                        rows= columns= classes= (2) label=noise|rule|shift depth= (of trees: any)
//                        permutations= (1000) max_cuts= (of md-global: any) weights=no|yes (of pairs, gini, entropy,
//                        mdlp) repeats= (20) threads= (all; of cuts) check=yes|no
//
//   label    noise: independent of the columns; rule: of two of them; shift: every tenth column is shifted by it
//   gpu_ms   the GPU's work without copies (with weights: without the sort; mdlp: sort_ms and search_ms): cuts, also
//   under permutations; or sorting and growing (sort_ms, grow_ms) copy_ms  cuts: wall time from columns in the host's
//   pinned memory to cuts in the host's memory call_ms  wall time from a table in the host's memory to cuts or a tree
//   there; first_ms is that of the first call,
//            with the start of the driver. A call for cuts has these parts, each timed by itself:
//              begin_ms   free memory asked for, a session made: its memory, streams, classes
//              gather_ms  columns copied to pinned memory, all threads (as many as a call starts)
//              way_ms     pieces copied to the GPU, searched there, cuts copied back
//              end_ms     the session's end
//   draw_ms  permutations: the part of call_ms in which one thread shuffles the labels
//   cpu_ms   the same on the CPU, all threads, up to five times in a second
//   core_ms  permutations: on one thread of the CPU
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "device/staging.hpp"
#include "device/staging_threads.hpp"
#include "discretize/best_cut.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/cuda_cuts.hpp"
#include "discretize/cut_methods.hpp"
#include "discretize/permuted_classes.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/stage_columns.hpp"
#include "stope/error.hpp"
#include "stope/tree.hpp"
#include "support/made_table.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using stope::Table;
using stope::device::checked_call;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void print(const char* name, const std::vector<double>& values) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.4f", i > 0 ? ", " : "", values[i]);
  std::printf("], ");
}

/// Prints which device --device auto takes once the driver has started.
void print_choice(const std::string& backend) {
  std::printf("\"auto\": \"%s\", ", backend == "cuda" ? "GPU" : "processor");
}

/// What the CPU finds, and how long it takes.
template <class Find>
auto time_processor(const Find& find, const char* name = "cpu_ms") {
  std::vector<double> cpu;
  const Clock::time_point begin = Clock::now();
  for (;;) {
    const Clock::time_point start = Clock::now();
    auto found = find();
    cpu.push_back(milliseconds_since(start));
    if (cpu.size() < 5 && milliseconds_since(begin) < 1000) continue;
    print(name, cpu);
    return found;
  }
}

// noise: labels are independent of the values. rule: they follow the sum of two columns, and a tenth of them is wrong.
Table make(std::int64_t rows, std::int64_t columns, std::int64_t classes, const std::string& label_is, bool weighted) {
  const bool by_rule = label_is == "rule";
  stope::bench::TableKind kind;
  kind.n_columns = columns;
  Table table = stope::bench::TableMaker(kind).table(rows, 1);
  std::vector<std::string> names;
  for (std::int64_t k = 0; k < classes; ++k) names.push_back(std::to_string(k));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows));
  stope::Random random(7);
  for (std::int64_t row = 0; row < rows; ++row) {
    auto label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
    if (by_rule && random.below(10) != 0) {
      const double sum = table.columns[0].at(row) + table.columns[1].at(row);  // labels have two classes
      label = std::min(static_cast<std::int32_t>(sum / 2 * static_cast<double>(classes)),
                       static_cast<std::int32_t>(classes) - 1);
    }
    labels[static_cast<std::size_t>(row)] = label;
  }
  for (std::int64_t c = 0; label_is == "shift" && c < columns; c += 10) {
    auto& x = std::get<stope::Buffer<float>>(table.columns[static_cast<std::size_t>(c)].data);
    for (std::int64_t row = 0; row < rows; ++row)
      x[row] += 0.2F * static_cast<float>(labels[static_cast<std::size_t>(row)]);
  }
  table.columns.push_back(stope::make_nominal("label", labels, names));
  table.columns.back().role = stope::Role::label;
  if (!weighted) return table;
  std::vector<double> weights(labels.size());
  for (double& w : weights) w = random.uniform() + 0.5;
  table.columns.push_back(stope::make_numeric("weight", weights));
  table.columns.back().role = stope::Role::weight;
  return table;
}

stope::RunOptions on(const char* device, int threads = 0) {
  stope::RunOptions run;
  run.device = device;
  run.threads = threads;
  return run;
}

// All columns are one piece, already in pinned memory: this times only the copies to the GPU and back, and the work
// between them.
void time_piece(const stope::discretize::DecisionProblem& problem, std::int64_t repeats) {
  namespace abi = stope::discretize::cuda_abi;
  const abi::Functions& functions = *stope::device::cuda().functions->discretize;
  const stope::discretize::PresentClasses classes(problem);
  const abi::Decisions decisions = {classes.of_row.data(), classes.totals.data(), classes.n_rows(), classes.n(),
                                    abi::Type::float32};
  const std::int64_t n = problem.n_attributes();
  abi::Session* session = nullptr;
  checked_call([&](auto* failure) { return functions.create(0, &decisions, n, &session, failure); });
  auto* to = static_cast<float*>(functions.columns(session, 0));
  for (const auto& attribute : problem.attributes) {
    attribute.with_numbers([&](const auto* x) { to = std::copy_n(x, problem.n_rows, to); });
  }
  std::vector<abi::Cut> cuts(static_cast<std::size_t>(n));
  std::vector<double> gpu, copy;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    double seconds = 0.0;
    checked_call([&](auto* failure) { return functions.submit(session, 0, n, failure); });
    checked_call([&](auto* failure) { return functions.collect(session, 0, cuts.data(), &seconds, failure); });
    copy.push_back(milliseconds_since(start));
    gpu.push_back(1e3 * seconds);
  }
  functions.destroy(session);
  print("gpu_ms", gpu);
  print("copy_ms", copy);
}

// The parts of a call, one after the other: a call does the second and the third at the same time.
void time_parts(const stope::discretize::DecisionProblem& problem, std::int64_t repeats, int threads) {
  namespace d = stope::discretize;
  const d::cuda_abi::Functions& functions = *stope::device::cuda().functions->discretize;
  const d::PresentClasses classes(problem);
  const d::cuda_abi::Decisions decisions = {classes.of_row.data(), classes.totals.data(), classes.n_rows(), classes.n(),
                                            d::cuda_abi::Type::float32};
  const std::int64_t n = problem.n_attributes(), bytes = 4 * problem.n_rows;
  const std::int64_t of_piece = std::clamp<std::int64_t>(d::cut_piece_bytes(problem.n_rows) / bytes, 1, n);
  std::vector<std::int64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  std::vector<d::cuda_abi::Cut> cuts(static_cast<std::size_t>(of_piece));
  std::vector<double> begin, gather, way, end;
  Clock::time_point start = Clock::now();
  const auto lap = [&](std::vector<double>& of) {
    of.push_back(milliseconds_since(start));
    start = Clock::now();
  };
  for (std::int64_t i = 0; i < repeats; ++i) {
    start = Clock::now();
    stope::device::usable_gpu_memory(0, {});
    d::cuda_abi::Session* session = nullptr;
    checked_call([&](auto* failure) { return functions.create(0, &decisions, of_piece, &session, failure); });
    lap(begin);
    {
      const stope::device::StagedSizes sizes{.all = bytes * n, .piece = bytes * of_piece};
      stope::device::Staging staging(
          sizes, stope::device::staging_threads(on("cuda", threads), sizes.all),
          [&](std::int64_t at, std::int64_t part, char* to) { d::write_columns(problem, all, at, part, to); });
      for (std::int64_t piece = 0; piece < staging.n_pieces(); ++piece) {
        staging.allow_next(static_cast<char*>(functions.columns(session, static_cast<int>(piece % 2))));
        staging.fill();
      }
    }
    lap(gather);
    double seconds = 0.0;
    bool under_way[2] = {};
    const auto collect = [&](int slot) {
      if (!under_way[slot]) return;
      checked_call([&](auto* failure) { return functions.collect(session, slot, cuts.data(), &seconds, failure); });
    };
    int next = 0;
    for (std::int64_t first = 0; first < n; first += of_piece, next ^= 1) {
      collect(next);
      const std::int64_t together = std::min(of_piece, n - first);
      checked_call([&](auto* failure) { return functions.submit(session, next, together, failure); });
      under_way[next] = true;
    }
    for (const int slot : {0, 1}) collect(slot);
    lap(way);
    functions.destroy(session);
    lap(end);
  }
  print("begin_ms", begin);
  print("gather_ms", gather);
  print("way_ms", way);
  print("end_ms", end);
}

bool time_cuts(const Table& table, std::int64_t repeats, int threads, bool check) {
  namespace d = stope::discretize;
  const d::DecisionProblem problem = d::make_problem(table, stope::MissingPolicy::error);
  const auto find = [&](const char* device) {
    return d::best_cut_of_each(problem, stope::Criterion::discernibility, 0, 0, on(device, threads));
  };
  std::vector<double> call;
  Clock::time_point start = Clock::now();
  d::BestCutRun found = find("cuda");
  print("first_ms", {milliseconds_since(start)});
  for (std::int64_t i = 0; i < repeats; ++i) {
    start = Clock::now();
    found = find("cuda");
    call.push_back(milliseconds_since(start));
  }
  print("call_ms", call);
  time_piece(problem, repeats);
  time_parts(problem, repeats, threads);
  if (!check) return true;
  print_choice(find("auto").report.backend);
  const d::BestCutRun want = time_processor([&] { return find("cpu"); });
  for (std::int64_t a = 0; a < want.best.size(); ++a) {
    const d::AttributeBest &g = found.best[a], &w = want.best[a];
    if (g.found != w.found || g.worth.w != w.worth.w || g.cut != w.cut) return false;
  }
  return true;
}

// Cuts by Gini or entropy, or with weights.
bool time_gains(const Table& table, stope::Criterion criterion, std::int64_t repeats, bool check) {
  namespace d = stope::discretize;
  const d::DecisionProblem problem = d::make_problem(table, stope::MissingPolicy::error);
  const auto find = [&](const char* device) { return d::best_cut_of_each(problem, criterion, 0, 0, on(device)); };
  std::vector<double> gpu, call;
  d::BestCutRun found = find("cuda");
  for (std::int64_t i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    found = find("cuda");
    call.push_back(milliseconds_since(start));
    gpu.push_back(1e3 * found.gpu_seconds);
  }
  print("gpu_ms", gpu);
  print("call_ms", call);
  if (!check) return true;
  print_choice(find("auto").report.backend);
  const d::BestCutRun want = time_processor([&] { return find("cpu"); });
  for (std::int64_t a = 0; a < want.best.size(); ++a) {
    const d::AttributeBest &g = found.best[a], &w = want.best[a];
    if (g.found != w.found || g.worth.gain != w.worth.gain || g.worth.w != w.worth.w || g.cut != w.cut) return false;
  }
  return true;
}

// MDLP of columns that are one piece, already in pinned memory.
void time_mdlp(const stope::discretize::DecisionProblem& problem, std::int64_t repeats) {
  namespace abi = stope::discretize::cuda_abi;
  const abi::Functions& functions = *stope::device::cuda().functions->discretize;
  const stope::discretize::PresentClasses classes(problem);
  const std::int64_t n = problem.n_attributes();
  const abi::Decisions decisions = {.classes = classes.of_row.data(),
                                    .totals = classes.totals.data(),
                                    .n_rows = classes.n_rows(),
                                    .n_classes = classes.n(),
                                    .type = abi::Type::float32,
                                    .score = abi::Score::entropy,
                                    .wanted = abi::Wanted::mdlp,
                                    .most_sorted = n,
                                    .weights = problem.weighted ? problem.weights.data() : nullptr};
  abi::Session* session = nullptr;
  checked_call([&](auto* failure) { return functions.create(0, &decisions, n, &session, failure); });
  auto* to = static_cast<float*>(functions.columns(session, 0));
  for (const auto& attribute : problem.attributes) {
    attribute.with_numbers([&](const auto* x) { to = std::copy_n(x, problem.n_rows, to); });
  }
  std::vector<std::int32_t> n_cuts(static_cast<std::size_t>(n));
  const abi::SetCut* cuts = nullptr;
  std::int64_t n_found = 0;
  std::vector<double> sort, search;
  for (std::int64_t i = 0; i < repeats; ++i) {
    double seconds = 0.0;
    checked_call([&](auto* failure) { return functions.submit(session, 0, n, failure); });
    checked_call([&](auto* failure) { return functions.collect(session, 0, nullptr, &seconds, failure); });
    sort.push_back(1e3 * seconds);
    checked_call([&](auto* failure) {
      return functions.cut_sorted(session, n_cuts.data(), &cuts, &n_found, &seconds, failure);
    });
    search.push_back(1e3 * seconds);
  }
  functions.destroy(session);
  print("sort_ms", sort);
  print("search_ms", search);
  const std::int64_t undecided = std::ranges::count(n_cuts, static_cast<std::int32_t>(abi::kUndecided));
  std::printf("\"undecided\": %lld, ", static_cast<long long>(undecided));
}

bool time_sets(const Table& table, const stope::DiscretizeOptions& options, std::int64_t repeats, bool check) {
  namespace d = stope::discretize;
  stope::BackendReport report;
  const auto find = [&](const char* device) { return d::cuts_without_tree(table, options, on(device), report); };
  std::vector<double> call;
  stope::CutSet found = find("cuda");
  for (std::int64_t i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    found = find("cuda");
    call.push_back(milliseconds_since(start));
  }
  print("call_ms", call);
  if (options.method == stope::DiscretizeMethod::mdlp) {
    time_mdlp(d::make_problem(table, options.missing), repeats);
  }
  std::int64_t n = 0;
  for (const stope::AttributeCuts& one : found) n += one.size();
  std::printf("\"cuts\": %lld, ", static_cast<long long>(n));
  if (!check) return true;
  const stope::CutSet want = time_processor([&] { return find("cpu"); });
  return std::ranges::equal(found, want, [](const stope::AttributeCuts& a, const stope::AttributeCuts& b) {
    return a.name == b.name && a.numbers == b.numbers;
  });
}

bool time_permutations(const Table& table, std::int64_t n, std::int64_t repeats, bool check) {
  namespace d = stope::discretize;
  const d::DecisionProblem problem = d::make_problem(table, stope::MissingPolicy::error);
  const auto find = [&](const char* device, int threads = 0) {
    return d::best_cut_of_each(problem, stope::Criterion::discernibility, n, 0, on(device, threads));
  };
  std::vector<double> gpu, call, draw;
  d::BestCutRun found;
  for (std::int64_t i = 0; i < repeats; ++i) {
    Clock::time_point start = Clock::now();
    found = find("cuda");
    call.push_back(milliseconds_since(start));
    gpu.push_back(1e3 * found.gpu_seconds);
    start = Clock::now();
    d::PermutedClasses permuted(problem, d::PresentClasses(problem), n, 0, std::int64_t{1} << 26, {});
    do permuted.next();
    while (permuted.left() > 0);
    draw.push_back(milliseconds_since(start));
  }
  print("gpu_ms", gpu);
  print("call_ms", call);
  print("draw_ms", draw);
  if (!check) return true;
  print_choice(find("auto").report.backend);
  const d::BestCutRun want = time_processor([&] { return find("cpu"); });
  time_processor([&] { return find("cpu", 1); }, "core_ms");
  return found.counts.as_good == want.counts.as_good && found.counts.any_as_good == want.counts.any_as_good;
}

bool same(const stope::DecisionTree& a, const stope::DecisionTree& b) {
  if (a.nodes().size() != b.nodes().size()) return false;
  for (std::size_t i = 0; i < a.nodes().size(); ++i) {
    const stope::TreeNode &x = a.nodes()[i], &y = b.nodes()[i];
    if (x.parent != y.parent || x.attribute != y.attribute || x.cut != y.cut || x.pairs != y.pairs ||
        x.score != y.score || x.n_rows != y.n_rows || x.majority != y.majority) {
      return false;
    }
  }
  return true;
}

bool time_tree(const Table& table, stope::Criterion criterion, std::int64_t depth, std::int64_t repeats, bool check) {
  stope::TreeOptions options;
  options.criterion = criterion;
  if (depth >= 0) options.max_depth = depth;
  std::vector<double> sort, grow, call;
  stope::DecisionTree tree;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    tree = stope::DecisionTree::fit(table, options, on("cuda"));
    call.push_back(milliseconds_since(start));
    for (const auto& [step, seconds] : tree.report().gpu_seconds) {
      (step == "sort" ? sort : grow).push_back(1e3 * seconds);
    }
  }
  print("sort_ms", sort);
  print("grow_ms", grow);
  print("call_ms", call);
  std::printf("\"leaves\": %lld, \"depth\": %lld, ", static_cast<long long>(tree.n_leaves()),
              static_cast<long long>(tree.max_depth()));
  if (!check) return true;
  print_choice(stope::DecisionTree::fit(table, options, on("auto")).report().backend);
  return same(tree, time_processor([&] { return stope::DecisionTree::fit(table, options, on("cpu")); }));
}

void run(stope::bench::Words words) {
  const std::string job = words.text("job", "cuts");
  const std::int64_t rows = words.integer("rows", 161), columns = words.integer("columns", 1000);
  const std::int64_t classes = words.integer("classes", 2), depth = words.integer("depth", -1);
  const std::string label = words.text("label", "noise");
  const bool weighted = words.text("weights", "no") == "yes", check = words.text("check", "yes") == "yes";
  const std::int64_t max_cuts = words.integer("max_cuts", 0);
  const std::int64_t repeats = words.integer("repeats", 20), permutations = words.integer("permutations", 1000);
  const auto threads = static_cast<int>(words.integer("threads", 0));  // of cuts
  words.done();
  const Table table = make(rows, columns, classes, label, weighted);
  std::printf("{");
  using stope::Criterion;
  const bool is_same = job == "tree"           ? time_tree(table, Criterion::discernibility, depth, repeats, check)
                       : job == "gini-tree"    ? time_tree(table, Criterion::gini, depth, repeats, check)
                       : job == "entropy-tree" ? time_tree(table, Criterion::entropy, depth, repeats, check)
                       : job == "mdlp" ? time_sets(table, {.method = stope::DiscretizeMethod::mdlp}, repeats, check)
                       : job == "md-global"    ? time_sets(table, {.max_cuts = max_cuts}, repeats, check)
                       : job == "pairs"        ? time_gains(table, Criterion::discernibility, repeats, check)
                       : job == "gini"         ? time_gains(table, Criterion::gini, repeats, check)
                       : job == "entropy"      ? time_gains(table, Criterion::entropy, repeats, check)
                       : job == "permutations" ? time_permutations(table, permutations, repeats, check)
                                               : time_cuts(table, repeats, threads, check);
  std::printf("\"checked\": %s, \"same\": %s}\n", check ? "true" : "false", is_same ? "true" : "false");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(stope::bench::Words(argc, argv, 1));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "discretize_gpu_bench: %s\n", error.what());
    return 1;
  }
}
