#include "discretize/stage_columns.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"

namespace stope::discretize {
namespace {

constexpr std::int64_t kTaskBytes = std::int64_t{256} << 10;

const void* values_of(const Attribute& attribute) {
  if (attribute.symbolic) return attribute.codes();
  return attribute.with_numbers([](const auto* x) { return static_cast<const void*>(x); });
}

}  // namespace

std::int64_t bytes_of(const Attribute& attribute, std::int64_t n_rows) {
  return n_rows * (std::holds_alternative<Buffer<double>>(attribute.data) ? 8 : 4);
}

void stage_columns(const DecisionProblem& problem, std::span<const std::int64_t> attributes, ThreadPool& pool,
                   void* to) {
  const auto attribute = [&](std::int64_t i) -> const Attribute& {
    return problem.attributes[static_cast<std::size_t>(attributes[static_cast<std::size_t>(i)])];
  };
  if (attributes.empty()) return;
  // Columns are divided, too: a piece has only a few long ones, and many threads copy it.
  const std::int64_t bytes = bytes_of(attribute(0), problem.n_rows), all = bytes * std::ssize(attributes);
  pool.parallel_for(checked::ceil_div(all, kTaskBytes), {}, [&](std::int64_t task, int) {
    const std::int64_t end = std::min(all, (task + 1) * kTaskBytes);
    for (std::int64_t at = task * kTaskBytes; at < end;) {
      const std::int64_t in_column = at % bytes, n = std::min(bytes - in_column, end - at);
      std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(values_of(attribute(at / bytes))) + in_column,
                  static_cast<std::size_t>(n));
      at += n;
    }
  });
}

}  // namespace stope::discretize
