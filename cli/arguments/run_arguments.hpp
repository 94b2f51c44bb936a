// The options that every command takes: --json --explain --progress --quiet --version -j --memory-limit --device
// --seed.
#pragma once

#include <cstdint>
#include <string>

#include "report/progress.hpp"
#include "stope/run.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

struct RunArguments {
  bool json = false;
  bool explain = false;
  bool quiet = false;
  std::string progress = "auto";
  std::int64_t jobs = 0;  // 0 = as many threads as the process may use
  std::int64_t memory_limit = 0;
  std::string device = RunOptions{}.device;
  std::uint64_t seed = 0;

  void add_to(CLI::App& app);
  RunOptions run_options(const CancelToken& cancel) const;
  ProgressStyle progress_style() const;
};

}  // namespace stope::cli
