// What is checked of a sink that a caller hands in.
#pragma once

#include <string>

#include "stope/error.hpp"

namespace stope {

/// Throws invalid_argument for an empty std::function, before a job has worked for nobody.
template <class Sink>
void require_sink(const Sink& sink, const char* option = "sink") {
  if (!sink) throw Error(ErrorCode::invalid_argument, std::string("the ") + option + " is empty", {.option = option});
}

}  // namespace stope
