// The options of a command line as words again, so that a page can say how to make it once more.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace stope::cli {

/// all: every option that can change a result. reading: those alone that say how a table is read.
enum class TypedOptions { all, reading };

/// The options that were given, by their long names. Left out are outputs, and options that change no result: those of
/// threads, memory, device, progress and messages.
std::vector<std::string> typed_words(const CLI::App& command, TypedOptions options);

}  // namespace stope::cli
