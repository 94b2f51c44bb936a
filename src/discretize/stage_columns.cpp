#include "discretize/stage_columns.hpp"

#include <algorithm>
#include <cstring>

namespace stope::discretize {
namespace {

const void* values_of(const Attribute& attribute) {
  if (attribute.symbolic) return attribute.codes();
  return attribute.with_numbers([](const auto* x) { return static_cast<const void*>(x); });
}

}  // namespace

void write_columns(const DecisionProblem& problem, std::span<const std::int64_t> attributes, std::int64_t at,
                   std::int64_t n, char* to) {
  const auto attribute = [&](std::int64_t i) -> const Attribute& {
    return problem.attributes[static_cast<std::size_t>(attributes[static_cast<std::size_t>(i)])];
  };
  const std::int64_t bytes = bytes_of(problem.forms[static_cast<std::size_t>(attributes[0])], problem.n_rows),
                     end = at + n;
  while (at < end) {
    const std::int64_t in_column = at % bytes, part = std::min(bytes - in_column, end - at);
    std::memcpy(to, static_cast<const char*>(values_of(attribute(at / bytes))) + in_column,
                static_cast<std::size_t>(part));
    at += part;
    to += part;
  }
}

}  // namespace stope::discretize
