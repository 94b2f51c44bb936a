// What --version prints.
#pragma once

#include <string>

namespace stope::cli {

/// The version, on its own line; then back ends, CUDA plug-in, compiler, commit and licence, a line each.
std::string version_text();

}  // namespace stope::cli
