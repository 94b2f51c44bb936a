// What --version prints (cli/report/version_text.hpp).
#include "report/version_text.hpp"

#include <algorithm>

#include <commit.hpp>  // cli/write_commit.cmake makes it
#include "report/session.hpp"
#include "stope/device.hpp"
#include "stope/files.hpp"
#include "stope/version.hpp"

namespace stope::cli {
namespace {

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

std::string version_text() {
  std::string backends, plug_in = "none";
  for (const BackendInfo& backend : device_info().backends) {
    if (backend.available) backends += (backends.empty() ? "" : ", ") + backend.name;
    if (backend.name == "cuda") plug_in = (backend.available ? "yes: " : "no: ") + one_line(backend.reason);
  }
  const FilesInfo files = files_info();
  const std::string readers =
      files.available ? files.formats + ": " + one_line(files.reason) : "no: " + one_line(files.reason);
  std::string by = compiler();
  by.erase(by.find_last_not_of(' ') + 1);
  return "stope " + std::string(version()) + "\nback ends  " + backends + "\ncuda       " + plug_in + "\nfiles      " +
         readers + "\ncompiler   " + by + "\ncommit     " STOPE_COMMIT "\nlicence    Apache 2.0\n";
}

}  // namespace stope::cli
