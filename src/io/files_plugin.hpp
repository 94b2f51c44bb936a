// The plug-in for files (files_abi.h): found, loaded and checked once. Where it is missing or does not fit, this says
// why.
#pragma once

#include <string>
#include <string_view>

#include "io/bytes.hpp"
#include "io/files_abi.h"
#include "stope/error.hpp"

namespace stope::io {

inline constexpr const char* kFilesPluginName = "libstope_files.so";

struct FilesPlugin {
  const StopeFilesFunctions* functions = nullptr;  ///< null where it cannot be used
  std::string path;
  std::string reason;  ///< why it cannot be used
};

/// Loads the plug-in at `path`. Never throws, whatever it finds. A plug-in stays loaded.
FilesPlugin load_files_plugin(const std::string& path);

/// The result of load_files_plugin() for this installation (stope/files.hpp). The first call loads it.
const FilesPlugin& files_plugin();

enum class FilesUse { read, write };

/// Its functions. Throws unsupported, about the file `name` of that format ("a Parquet file"), with how to get it.
const StopeFilesFunctions& files_functions(std::string_view format, const std::string& name,
                                           FilesUse use = FilesUse::read);

/// Lends bytes to a function of the plug-in, which gives them back, also where it fails.
StopeFilesBytes lend(const Bytes& bytes);

/// Throws what a function of the plug-in reported about the file `name`.
[[noreturn]] void throw_files_failure(const StopeFilesFailure& failure, const std::string& name);
/// The same for an error of a stream, whose text begins with the code.
[[noreturn]] void throw_files_failure(std::string_view said, const std::string& name);
/// The same for a stream that has just failed.
[[noreturn]] void throw_files_failure(ArrowArrayStream& rows, const std::string& name);

}  // namespace stope::io
