// "Did you mean": the candidate closest to a misspelt name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stope {

/// " (did you mean 'x'?)" for the candidate within an edit distance of a third of the name, case ignored, else "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stope
