#include "base/own_folder.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace stope {

std::string own_folder() {
  Dl_info info{};
  const char* name = nullptr;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) != 0) name = info.dli_fname;
  // A program has the name by which it was called, which need not be a path.
  if (name == nullptr || std::strchr(name, '/') == nullptr) name = "/proc/self/exe";
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(name, nullptr), &std::free);
  const std::string path = real != nullptr ? real.get() : name;
  return path.substr(0, path.rfind('/'));
}

}  // namespace stope
