// The plug-in for files, which reads and writes Parquet and Arrow IPC: whether it is there.
#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace stope {

struct FilesInfo {
  bool available = false;
  std::string formats;  ///< what it reads and writes: "Parquet, Arrow"; empty where it is not available
  std::string reason;   ///< where it is and whose readers it has, or why it is not available
};

/// Loads the plug-in, if that has not been done, and says what it is. Never throws for a plug-in that is missing or
/// broken. It is the file that STOPE_FILES_PLUGIN names, else libstope_files.so in the folder of the library (or of the
/// program that it is linked into), else the one in the installation's library folder.
FilesInfo files_info();

}  // namespace stope
#pragma GCC visibility pop
