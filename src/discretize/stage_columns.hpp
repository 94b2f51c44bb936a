// Copies columns into pinned memory, one behind the other, on their way to a GPU.
#pragma once

#include <cstdint>
#include <span>

#include "base/thread_pool.hpp"
#include "discretize/problem.hpp"

namespace stope::discretize {

/// Bytes of an attribute's values.
std::int64_t bytes_of(const Attribute& attribute, std::int64_t n_rows);

/// Copies attributes of one type.
void stage_columns(const DecisionProblem& problem, std::span<const std::int64_t> attributes, ThreadPool& pool,
                   void* to);

}  // namespace stope::discretize
