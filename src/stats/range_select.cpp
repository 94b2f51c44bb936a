#include "stats/range_select.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace stope::stats {
namespace {

// Their counts and marks lie in the first-level cache; of 100,000 normal values a part has some 200 at most.
constexpr std::size_t kParts = 2048;
// Fewer values are selected from at once: clearing the counts would take longer.
constexpr std::size_t kFewValues = 1024;
// How often the range of a part is cut again. Values between 1 and 2^44 that crowd at 1 need four cuts.
constexpr int kMostCuts = 4;

using Counts = std::array<std::int32_t, kParts>;

// Which part every value lies in. Each operation rounds monotonically, so a smaller value never has a later part.
void find_parts(std::span<const double> values, double low, double scale, std::uint16_t* parts) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    parts[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>((values[i] - low) * scale));
  }
}

// Two tables of counts: neighbours of the same part do not wait for each other.
Counts counted(std::span<const std::uint16_t> parts) {
  Counts even{}, odd{};
  std::size_t i = 0;
  for (; i + 1 < parts.size(); i += 2) {
    ++even[parts[i]];
    ++odd[parts[i + 1]];
  }
  if (i < parts.size()) ++even[parts[i]];
  for (std::size_t p = 0; p < kParts; ++p) even[p] += odd[p];
  return even;
}

void select_copy(std::span<const double> values, std::int64_t before, const CancelToken& cancel,
                 std::span<Ranked> wanted) {
  std::vector<double> copy(values.begin(), values.end());
  select_ranks(copy, before, cancel, wanted);
}

void cut(std::span<const double> values, double low, double high, std::int64_t before, int cuts,
         const CancelToken& cancel, std::span<Ranked> wanted) {
  const double scale = static_cast<double>(kParts - 1) / (high - low);
  if (values.size() < kFewValues || cuts == kMostCuts || !std::isfinite(high - low) || !std::isfinite(scale)) {
    select_copy(values, before, cancel, wanted);
    return;
  }
  cancel.check();
  std::vector<std::uint16_t> parts(values.size());
  find_parts(values, low, scale, parts.data());
  const Counts counts = counted(parts);

  struct Found {  // a part that holds wanted ranks
    std::size_t first, n;
    std::int64_t before;
    std::span<Ranked> wanted;
  };
  constexpr std::int32_t kUnwanted = -1;
  std::vector<Found> found;
  Counts next;  // where the next value of a wanted part goes
  next.fill(kUnwanted);
  std::size_t held = 0, from = 0;
  for (std::size_t p = 0; p < kParts && from < wanted.size(); ++p) {
    std::size_t to = from;
    while (to < wanted.size() && wanted[to].rank < before + counts[p]) ++to;
    if (to > from) {
      const auto n = static_cast<std::size_t>(counts[p]);
      found.push_back({held, n, before, wanted.subspan(from, to - from)});
      next[p] = static_cast<std::int32_t>(held);
      held += n;
    }
    before += counts[p];
    from = to;
  }
  std::vector<double> inside(held);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int32_t& place = next[parts[i]];
    if (place != kUnwanted) inside[static_cast<std::size_t>(place++)] = values[i];
  }
  for (const Found& part : found) {
    const std::span<double> theirs = std::span(inside).subspan(part.first, part.n);
    if (theirs.size() < kFewValues) {
      select_ranks(theirs, part.before, cancel, part.wanted);
      continue;
    }
    const auto [least, most] = std::minmax_element(theirs.begin(), theirs.end());
    cut(theirs, *least, *most, part.before, cuts + 1, cancel, part.wanted);
  }
}

}  // namespace

void select_ranks(std::span<double> values, std::int64_t before, const CancelToken& cancel, std::span<Ranked> wanted) {
  const auto less = [](double a, double b) { return key_of(a) < key_of(b); };
  auto from = values.begin();
  for (Ranked& one : wanted) {
    const auto at = values.begin() + (one.rank - before);
    cancel.check();
    if (at >= from) {
      std::nth_element(from, at, values.end(), less);
      from = at + 1;
    }
    one.value = *at;
  }
}

void select_by_range(std::span<const double> values, double low, double high, std::int64_t before,
                     const CancelToken& cancel, std::span<Ranked> wanted) {
  cut(values, low, high, before, 0, cancel, wanted);
}

}  // namespace stope::stats
