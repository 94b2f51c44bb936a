#include "stope/error.hpp"

namespace stope {
namespace {

std::string with_place(const std::string& message, const Place& place) {
  std::string text = place.file;
  if (place.line > 0) text += (text.empty() ? "line " : ":") + std::to_string(place.line);
  if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
  return text.empty() ? message : text + ": " + message;
}

}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::invalid_file: return "invalid_file";
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
    case ErrorCode::invalid_file:
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

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

Error::Error(ErrorCode code, const std::string& message, const Place& place)
    : std::runtime_error(with_place(message, place)), code_(code), line_(place.line), column_(place.column) {}

}  // namespace stope
