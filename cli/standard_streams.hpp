// The descriptors 0 to 2, which a caller may have closed or made unwritable.
#pragma once

#include <string_view>

namespace stope::cli {

/// Opens a missing one, so that no file of ours gets its number and then the text that is meant for it. What is opened
/// so can be neither read (stdin) nor written (stdout, stderr): using it is an error. False if that is impossible.
bool open_standard_streams();

/// Writes to stderr. If that fails, there is nobody left to tell, so it does nothing.
void write_to_stderr(std::string_view text) noexcept;

}  // namespace stope::cli
