// A plug-in for tests of the loader and of the core's work without a GPU; this header holds what its files share.
// It checks the order in which the core calls it. Plain loops compute the gram operator, statistics, cuts and trees.
//
// STOPE_FAKE is its role:
// - "works": it searches one measure on the CPU. "filters", "byte filters" and "differences" add that filter.
//   "no clusters", "useless clusters": it has filters, which make no clusters of rows, or leave no pairs out in them.
//   "no measure": it has no kernel for the measure.
// - "no driver", "old driver", "no gpu", "old gpus", "broken": what it finds on the machine.
// - "nothing": it returns no functions. "other version", "other main table", "other knn table" and so on: its tables
//   differ from the core's. Any other word: its GPUs are lost when they are asked for free memory.
#pragma once

#include <vector>

#include "device/cuda_abi.hpp"
#include "discretize/cuda_abi.hpp"
#include "gram/cuda_abi.hpp"
#include "knn/cuda_abi.hpp"
#include "stats/cuda_abi.hpp"
#include "stope/error.hpp"
#include "tree/cuda_abi.hpp"

namespace stope::fake {

namespace abi = knn::cuda_abi;

/// What the core gave when it loaded the plug-in.
extern const cuda_abi::Host* the_host;

/// A member of whatever the core creates here and has to destroy. The fixture of the tests (with_fake_plugin.hpp)
/// counts what is left.
struct Alive {
  Alive();
  ~Alive();
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;
};

bool plays(const char* role);
/// Whether the role has a filter; with "byte filters" it scans bytes, too.
bool filters();
/// Whether the role has GPUs that search.
bool searches();

/// Writes the failure; returns 1, for the caller to return.
int fail(cuda_abi::Failure* failure, ErrorCode code, const char* text);

/// Counts bytes of rows, lists and predictions that a real plug-in would copy.
void count_to_host(std::int64_t bytes);
void count_to_gpu(std::int64_t bytes);
/// Counts a batch of a filter where two others are under way.
void count_third_batch();

/// The caller's rows as doubles.
std::vector<double> taken(const abi::DeviceRows& from, std::int64_t n, std::int64_t width);

void add_reference(abi::Functions& functions);
void add_filter(abi::Functions& functions);
void add_differences(abi::Functions& functions);
void add_table_rows(abi::Functions& functions);

const gram::cuda_abi::Functions& gram_functions();
const stats::cuda_abi::Functions& stats_functions();
const discretize::cuda_abi::Functions& discretize_functions();
const tree::cuda_abi::Functions& tree_functions();

}  // namespace stope::fake
