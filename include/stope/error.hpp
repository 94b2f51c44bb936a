// Errors: every failure of the library is a stope::Error with a code, a message and, where it is known, a place.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stope {

/// The kind of a failure; the command line maps each to an exit code (exit_code below).
enum class ErrorCode {
  invalid_argument,    ///< the caller asked for something impossible: k = 0, an unknown metric, negative weights
  invalid_file,        ///< malformed or inconsistent data
  unsupported,         ///< well-formed, but not something stope can do (a numeric metric on a nominal attribute)
  out_of_memory,       ///< the bytes needed exceed the memory budget or the machine
  device_unavailable,  ///< the back end that was asked for is not available
  device_lost,         ///< a device failed in the middle of a job
  cancelled,           ///< the cancel token was triggered
  io,                  ///< the operating system refused to open, read, write or rename
  internal             ///< a defect of stope
};

/// The code's name as in this header, e.g. "invalid_file".
std::string_view to_string(ErrorCode code) noexcept;

/// The process exit code of the command line: 1 internal, 2 invalid_argument, 3 invalid_file / unsupported / io,
/// 4 out_of_memory, 5 device_unavailable / device_lost, 130 cancelled.
int exit_code(ErrorCode code) noexcept;

/// Where in a file something is wrong. Lines and columns count from 1; 0 means "not known".
struct Place {
  std::string file;
  std::int64_t line = 0;
  std::int64_t column = 0;
};

/// Thrown by every function of the library that can fail. what() is "file:line:column: message", without the parts of
/// the place that are not known.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  Error(ErrorCode code, const std::string& message, const Place& place);

  ErrorCode code() const noexcept { return code_; }
  std::int64_t line() const noexcept { return line_; }      ///< 0 = not known
  std::int64_t column() const noexcept { return column_; }  ///< 0 = not known

 private:
  ErrorCode code_;
  std::int64_t line_ = 0;
  std::int64_t column_ = 0;
};

}  // namespace stope
