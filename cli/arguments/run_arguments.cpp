// The options that every command takes (cli/arguments/run_arguments.hpp).
#include "arguments/run_arguments.hpp"

#include <unistd.h>

#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"

namespace stope::cli {
void RunArguments::add_to(CLI::App& app) {
  OptionGroup group(app, "Common options");
  group.flag(
      "--json", json,
      "Print one JSON object on stdout: the result (without -o FILE), plan, scores, timings, warnings, or the error");
  group.flag("--explain", explain, "Say on stderr how the job ran: back end and why, tiles, threads, memory, time");
  group.choice("--progress", progress, {"auto", "yes", "no"},
               "Progress on stderr; auto: only on a terminal, for work of more than a second");
  group.flag("-q,--quiet", quiet, "Print nothing on stderr but errors");
  group.parsed("-j,--n-jobs,--threads", "N", "Number of threads; -1: as many as the process may use [-1]",
               [this](const std::string& word) {
                 jobs = parse_integer(word, "-j");
                 if (jobs == -1) {
                   jobs = 0;
                 } else if (jobs < 1 || jobs > 65536) {
                   throw Error(ErrorCode::invalid_argument,
                               "-j: '" + word + "' is not a number of threads from 1 to 65536, or -1 for all");
                 }
               });
  group.parsed("--memory-limit", "SIZE", "Memory that the job may hold, e.g. 2GB or 1.5GiB [80 % of the free memory]",
               [this](const std::string& word) { memory_limit = parse_bytes(word, "--memory-limit"); });
  group.parsed("--device", "auto|cpu|cuda|cuda:0,1", "Where to compute; the answers are the same everywhere",
               [this](const std::string& word) {
                 device = word;
                 require_backend(run_options({}));
               });
  group.parsed("--seed,--random-state", "S",
               "Seed of everything random: the same seed gives the same bytes everywhere [0]",
               [this](const std::string& word) { seed = parse_seed(word, "--seed"); });
  add_version_flag(app, "Common options");
}

RunOptions RunArguments::run_options(const CancelToken& cancel) const {
  RunOptions run;
  run.threads = static_cast<int>(jobs);
  run.memory_limit = memory_limit;
  run.device = device;
  run.cancel = cancel;
  return run;
}

ProgressStyle RunArguments::progress_style() const {
  if (quiet || progress == "no") return ProgressStyle::off;
  if (::isatty(STDERR_FILENO) != 0) return ProgressStyle::terminal;
  return progress == "yes" ? ProgressStyle::lines : ProgressStyle::off;
}

}  // namespace stope::cli
