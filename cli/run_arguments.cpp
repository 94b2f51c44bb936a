// The options every command takes (cli/run_arguments.hpp).
#include "run_arguments.hpp"

#include <unistd.h>

#include <algorithm>

#include "option.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/version.hpp"
#include "value.hpp"

namespace stope::cli {
namespace {

bool names_cuda_devices(std::string_view device) {
  if (device.substr(0, 5) != "cuda:") return false;
  std::string_view list = device.substr(5);
  while (!list.empty()) {
    const std::size_t digits = std::min(list.find_first_not_of("0123456789"), list.size());
    if (digits == 0 || digits > 4) return false;
    list.remove_prefix(digits);
    if (list.empty()) return true;
    if (list.front() != ',') return false;
    list.remove_prefix(1);
  }
  return false;
}

void require_device_syntax(const std::string& device) {
  if (device == "auto" || device == "cpu" || device == "cuda" || names_cuda_devices(device)) return;
  throw Error(ErrorCode::invalid_argument, "--device: '" + device + "' is not auto, cpu, cuda or cuda:0,1");
}

}  // namespace

void require_device(const std::string& device) {
  if (device.substr(0, 4) != "cuda") return;
  std::string reason = "this build has no CUDA back end";
  for (const BackendInfo& backend : device_info().backends) {
    if (backend.name != "cuda") continue;
    if (backend.available) return;
    reason = backend.reason;
  }
  throw Error(ErrorCode::device_unavailable, "--device " + device + ": " + reason);
}

void RunArguments::add_to(CLI::App& app) {
  OptionGroup group(app, "Common options");
  group.flag("--json", json, "Print one JSON object on stdout: plan, scores, timings, warnings; data then need -o");
  group.flag("--explain", explain, "Say on stderr how the job ran: back end and why, tiles, threads, memory, time");
  group.choice("--progress", progress, {"auto", "yes", "no"},
               "Progress on stderr; auto: on a terminal, for anything over a second");
  group.flag("-q,--quiet", quiet, "Print nothing on stderr but errors");
  group.parsed(
      "-j,--n-jobs", "N", "Threads; without it as many as the process may use", [this](const std::string& word) {
        jobs = parse_integer(word, "-j");
        if (jobs < 1 || jobs > 65536) {
          throw Error(ErrorCode::invalid_argument, "-j: '" + word + "' is not a number of threads from 1 to 65536");
        }
      });
  group.parsed("--memory-limit", "SIZE", "Memory the job may hold, e.g. 2GB or 1.5GiB; without it 80 % of what is free",
               [this](const std::string& word) { memory_limit = parse_bytes(word, "--memory-limit"); });
  group.parsed("--device", "auto|cpu|cuda|cuda:0,1", "Where to compute; the answers are the same everywhere",
               [this](const std::string& word) {
                 require_device_syntax(word);
                 device = word;
               });
  group.parsed("--seed", "S", "Seed of everything random: the same seed gives the same bytes everywhere [0]",
               [this](const std::string& word) { seed = parse_seed(word, "--seed"); });
  app.set_version_flag("--version", "stope " + std::string(version()), "Print the version and exit")
      ->group("Common options");
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
