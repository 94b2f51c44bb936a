// The library's version. CMakeLists.txt reads it from here: this is the one place to change it.
#pragma once

#include <string_view>

#define STOPE_VERSION "0.1.0"

#pragma GCC visibility push(default)
namespace stope {
/// The version of the library linked, which may differ from the macro of the header compiled against.
std::string_view version() noexcept;
}  // namespace stope
#pragma GCC visibility pop
