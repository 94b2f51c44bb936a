#include "stope/error.hpp"

#include <new>
#include <utility>

namespace stope {
namespace {

std::string with_place(const std::string& message, const Place& place) {
  std::string text = place.file;
  if (place.line > 0) text += (text.empty() ? "line " : ":") + std::to_string(place.line);
  if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
  return text.empty() ? message : text + ": " + message;
}

// Made before anything can fail: when memory has run out, error_of can only copy them, which allocates nothing.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): a program without memory for two sentences cannot start
const Error kOutOfMemory(ErrorCode::out_of_memory, "out of memory");
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const Error kUnknown(ErrorCode::internal, "internal error: an exception of an unknown type");

Error caught(const std::exception_ptr& exception) {
  try {
    if (exception != nullptr) std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::length_error&) {
    return kOutOfMemory;  // a container was asked for more than any memory holds
  } catch (const std::exception& error) {
    return {ErrorCode::internal, std::string("internal error: ") + error.what()};
  } catch (...) {
    return kUnknown;
  }
  return kUnknown;
}

}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::invalid_data: return "invalid_data";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::device_unavailable: return "device_unavailable";
    case ErrorCode::device_lost: return "device_lost";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::io: return "io";
    case ErrorCode::internal: break;
  }
  return "internal";
}

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return 2;
    case ErrorCode::invalid_data:
    case ErrorCode::unsupported:
    case ErrorCode::io: return 3;
    case ErrorCode::out_of_memory: return 4;
    case ErrorCode::device_unavailable:
    case ErrorCode::device_lost: return 5;
    case ErrorCode::cancelled: return 130;
    case ErrorCode::internal: break;
  }
  return 1;
}

Error::Error(ErrorCode code, const std::string& message) : Error(code, message, Place()) {}

Error::Error(ErrorCode code, const std::string& message, Place place)
    : std::runtime_error(with_place(message, place)),
      code_(code),
      details_(std::make_shared<const Details>(Details{message, std::move(place)})) {}

Error error_of(const std::exception_ptr& exception) noexcept {
  try {
    return caught(exception);
  } catch (...) {
    return kOutOfMemory;  // there is no memory left for the message
  }
}

}  // namespace stope
