// split_rows and split_groups (stope/split.hpp).
#include "stope/split.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <unordered_map>

#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "base/number_text.hpp"
#include "base/random.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/table.hpp"

namespace stope {
namespace {

using Rows = std::vector<std::int64_t>;

void check_shares(const std::vector<double>& shares) {
  if (shares.size() < 2) {
    throw Error(ErrorCode::invalid_argument, "a split needs at least 2 parts", {.option = "shares"});
  }
  for (const double share : shares) {
    if (share > 0 && std::isfinite(share)) continue;
    throw Error(ErrorCode::invalid_argument, "the share " + number_text(share) + " of a part is not above 0",
                {.option = "shares"});
  }
}

[[noreturn]] void refuse(std::int64_t n, const std::string& what, std::size_t n_parts) {
  throw Error(ErrorCode::invalid_argument,
              counted(n, what) + (n == 1 ? " is" : " are") + " too few for " +
                  counted(static_cast<std::int64_t>(n_parts), "part") + " of these shares",
              {.option = "shares"});
}

// Takes the test rows of a split of `rest` out of it.
Rows take_part(Rows& rest, double fraction, std::uint64_t seed, const std::vector<std::int32_t>& labels) {
  std::vector<std::int32_t> of_rest;
  if (!labels.empty()) {
    of_rest.reserve(rest.size());
    for (const std::int64_t row : rest) of_rest.push_back(labels[static_cast<std::size_t>(row)]);
  }
  Rows part, left;
  std::size_t next = 0;
  const Rows taken = holdout_rows(std::ssize(rest), fraction, seed, of_rest);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const bool in_part = next < taken.size() && taken[next] == static_cast<std::int64_t>(i);
    (in_part ? part : left).push_back(rest[i]);
    next += in_part ? 1 : 0;
  }
  rest = std::move(left);
  return part;
}

// Rows of every group, in order of their first row.
std::vector<Rows> rows_of_groups(const std::vector<std::int32_t>& groups) {
  std::vector<Rows> rows;
  std::unordered_map<std::int32_t, std::size_t> place;
  for (std::size_t row = 0; row < groups.size(); ++row) {
    const std::int32_t code = groups[row];
    const auto [at, is_new] = code == kMissingCode ? std::pair(place.end(), true) : place.emplace(code, rows.size());
    if (is_new) rows.emplace_back();
    (is_new ? rows.back() : rows[at->second]).push_back(static_cast<std::int64_t>(row));
  }
  return rows;
}

}  // namespace

std::vector<Rows> split_rows(std::int64_t n_rows, const std::vector<double>& shares, std::uint64_t seed,
                             const std::vector<std::int32_t>& labels) try {
  check_shares(shares);
  if (n_rows < std::ssize(shares)) refuse(n_rows, "row", shares.size());
  if (!labels.empty() && std::ssize(labels) != n_rows) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(labels.size()) + " labels for " + std::to_string(n_rows) + " rows");
  }
  std::vector<Rows> parts(shares.size());
  Rows rest(static_cast<std::size_t>(n_rows));
  std::iota(rest.begin(), rest.end(), std::int64_t{0});
  for (std::size_t p = shares.size() - 1; p > 0; --p) {
    const double before = std::accumulate(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(p), 0.0);
    const double fraction = shares[p] / (before + shares[p]);
    if (rest.size() < p + 1 || !(fraction > 0 && fraction < 1)) refuse(n_rows, "row", shares.size());
    parts[p] = take_part(rest, fraction, seed + (shares.size() - 1 - p), labels);
  }
  parts[0] = std::move(rest);
  return parts;
} catch (...) {
  rethrow_as_error();
}

std::vector<Rows> split_groups(const std::vector<std::int32_t>& groups, const std::vector<double>& shares,
                               std::uint64_t seed) try {
  check_shares(shares);
  std::vector<Rows> members = rows_of_groups(groups);
  if (members.size() < shares.size()) refuse(std::ssize(members), "group", shares.size());
  Random random(seed);
  for (std::size_t left = members.size(); left > 1; --left) std::swap(members[left - 1], members[random.below(left)]);
  std::stable_sort(members.begin(), members.end(), [](const Rows& a, const Rows& b) { return a.size() > b.size(); });
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<double> wanting;
  wanting.reserve(shares.size());
  for (const double share : shares) wanting.push_back(share / all * static_cast<double>(groups.size()));
  std::vector<Rows> parts(shares.size());
  std::size_t n_empty = parts.size();
  for (std::size_t g = 0; g < members.size(); ++g) {
    // The last groups go to the parts that have none yet.
    const bool only_empty = members.size() - g <= n_empty;
    std::size_t best = parts.size();
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (only_empty && !parts[p].empty()) continue;
      if (best == parts.size() || wanting[p] > wanting[best]) best = p;
    }
    n_empty -= parts[best].empty() ? 1 : 0;
    wanting[best] -= static_cast<double>(members[g].size());
    parts[best].insert(parts[best].end(), members[g].begin(), members[g].end());
  }
  for (Rows& part : parts) std::sort(part.begin(), part.end());
  return parts;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
