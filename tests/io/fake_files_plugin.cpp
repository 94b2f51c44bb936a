// Plug-ins for files that do not fit, for files_plugin_fake_test.cpp: STOPE_FAKE_VERSION and STOPE_FAKE_BYTES say how.
#include "io/files_abi.h"

namespace {
StopeFilesFunctions made() {
  StopeFilesFunctions functions{};
  functions.version = STOPE_FAKE_VERSION;
  functions.bytes = STOPE_FAKE_BYTES;
  return functions;
}
}  // namespace

extern "C" const StopeFilesFunctions* stope_files() {
  static const StopeFilesFunctions functions = made();
  return &functions;
}
