// One number for the bits of all lists of a search, so that many searches can be compared, also between machines.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>

#include "stope/knn.hpp"

namespace stope {

/// FNV-1a over the bits of an answer.
inline std::uint64_t hash_of(const Neighbors& neighbors) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&hash](std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte, value >>= 8) hash = (hash ^ (value & 0xff)) * 0x100000001b3ULL;
  };
  for (const std::int64_t offset : neighbors.offsets) add(static_cast<std::uint64_t>(offset));
  for (const std::int64_t row : neighbors.indices) add(static_cast<std::uint64_t>(row));
  for (const double distance : neighbors.distances) add(std::bit_cast<std::uint64_t>(distance));
  return hash;
}

/// Prints a line for docs/ASSURANCE.md: "hash 0123456789abcdef: what". The CPU's is the same on every machine.
inline void print_hash(std::uint64_t hash, const std::string& what) {
  std::printf("hash %016llx: %s\n", static_cast<unsigned long long>(hash), what.c_str());
}

}  // namespace stope
