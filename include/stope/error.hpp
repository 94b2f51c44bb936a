// Errors: every failure of the library is a stope::Error with a code, a message and, where it is known, a place. An
// exception that a callback of the caller throws (a sink, a progress callback) comes back as it is.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace stope {

/// The kind of a failure; the command line maps each to an exit code (exit_code below).
enum class ErrorCode {
  invalid_argument,    ///< the caller asked for something impossible: k = 0, an unknown metric, negative weights
  invalid_data,        ///< malformed or inconsistent data
  unsupported,         ///< well-formed, but not something stope can do (a numeric metric on a nominal attribute)
  out_of_memory,       ///< the bytes needed exceed the memory budget or the machine
  device_unavailable,  ///< the back end that was asked for is not available
  device_lost,         ///< a device failed in the middle of a job
  cancelled,           ///< the cancel token was triggered
  io,                  ///< the operating system refused to open, read, write or rename
  internal             ///< a defect of stope
};

/// The code's name as in this header, e.g. "invalid_data".
std::string_view to_string(ErrorCode code) noexcept;

/// The process exit code of the command line: 1 internal, 2 invalid_argument, 3 invalid_data / unsupported / io,
/// 4 out_of_memory, 5 device_unavailable / device_lost, 130 cancelled.
int exit_code(ErrorCode code) noexcept;

/// Where something is wrong: in a file, in a table, or among the options of a call. An empty name and a number at its
/// default mean "not known". Only the file, the line and the column become part of Error::what(); a message says the
/// others in its own words.
struct Place {
  std::string file = {};     ///< a path, or a table's source
  std::int64_t line = 0;     ///< of the file, from 1
  std::int64_t column = 0;   ///< byte of the line, from 1
  std::string option = {};   ///< the option's name as in the API: "n_neighbors", "metric"
  std::string feature = {};  ///< the name of a table's column
  std::int64_t row = -1;     ///< a table's row, from 0, as messages count rows
  std::int64_t bytes = -1;   ///< out_of_memory: a memory limit that would do, as far as the job knows
};

/// Thrown by every function of the library that can fail. what() is "file:line:column: message", without the parts of
/// the place that are not known. Copies share their text, so copying does not throw.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  Error(ErrorCode code, const std::string& message, Place place);

  ErrorCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return details_->message; }        ///< what() without the place
  const std::string& file() const noexcept { return details_->place.file; }        ///< empty = not known
  std::int64_t line() const noexcept { return details_->place.line; }              ///< from 1; 0 = not known
  std::int64_t column() const noexcept { return details_->place.column; }          ///< from 1; 0 = not known
  const std::string& option() const noexcept { return details_->place.option; }    ///< empty = not about an option
  const std::string& feature() const noexcept { return details_->place.feature; }  ///< empty = not about a column
  std::int64_t row() const noexcept { return details_->place.row; }                ///< from 0; -1 = not known
  std::int64_t bytes() const noexcept { return details_->place.bytes; }            ///< -1 = not known
  const Place& place() const noexcept { return details_->place; }

 private:
  struct Details {
    std::string message;
    Place place;
  };
  ErrorCode code_;
  std::shared_ptr<const Details> details_;
};

/// The Error that a caught exception is. An Error is returned as it is. std::bad_alloc and std::length_error become
/// out_of_memory; anything else, a null pointer too, becomes internal.
Error error_of(const std::exception_ptr& exception) noexcept;

}  // namespace stope
#pragma GCC visibility pop
