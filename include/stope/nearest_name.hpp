// "Did you mean": the candidate closest to a misspelt name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace stope {

/// Returns " (did you mean 'x'?)" for the nearest candidate, else "". A candidate counts if its edit distance is at
/// most a third of the name's length. Case is ignored.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stope
#pragma GCC visibility pop
