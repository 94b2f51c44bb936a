#include "base/report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/escape.hpp"
#include "base/guarded.hpp"
#include "base/number_text.hpp"

namespace stope {

JsonObject& JsonObject::raw(std::string_view key, const std::string& value) {
  members_ += (members_.empty() ? "" : ",") + json_text(key) + ":" + value;
  return *this;
}

JsonObject& JsonObject::text(std::string_view key, std::string_view value) {
  return raw(key, json_text(value));
}

JsonObject& JsonObject::integer(std::string_view key, std::int64_t value) {
  return raw(key, std::to_string(value));
}

JsonObject& JsonObject::number(std::string_view key, double value) {
  if (!std::isfinite(value)) return raw(key, "null");
  std::string text = number_text(value);
  // A reader is to see a number with a fraction, though it happens to be whole.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return raw(key, text);
}

JsonObject& JsonObject::object(std::string_view key, const JsonObject& value) {
  return raw(key, value.done());
}

JsonObject& JsonObject::backend(const BackendReport& report) {
  return text("backend", report.backend).text("reason", report.reason).text("device_reason", report.device_reason);
}

JsonObject& JsonObject::steps(std::string_view key, const std::vector<std::pair<std::string, double>>& seconds) {
  if (seconds.empty()) return *this;
  JsonObject steps;
  for (const auto& [step, time] : seconds) steps.number(step, time);
  return object(key, steps);
}

std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return escape_controls(line);
}

std::string backend_text(const BackendReport& report) {
  std::string text;
  if (!report.backend.empty()) {
    text += "backend   " + report.backend + (report.reason.empty() ? "" : " (" + one_line(report.reason) + ")") + "\n";
  }
  if (!report.device_reason.empty()) text += "device    " + one_line(report.device_reason) + "\n";
  return text;
}

namespace {

std::string formatted(double value, std::chars_format format, int precision) {
  char buffer[512];  // %.3f of the largest double has 313 characters
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value, format, precision);
  return {buffer, result.ptr};
}

}  // namespace

std::string fixed_text(double value, int decimals) {
  return formatted(value, std::chars_format::fixed, decimals);
}

std::string rounded_text(double value, int digits) {
  return formatted(value, std::chars_format::general, digits);
}

std::string format_bytes(std::int64_t bytes) try {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};  // to INT64_MAX
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5) {
    value /= 1000;
    ++unit;
  }
  return rounded_text(value, 3) + " " + kUnits[unit];
} catch (...) {
  rethrow_as_error();
}

std::string to_json(const BackendReport& report) try {
  return JsonObject().backend(report).integer("threads", report.threads).number("seconds", report.seconds).done();
} catch (...) {
  rethrow_as_error();
}

std::string to_text(const BackendReport& report) try { return backend_text(report); } catch (...) {
  rethrow_as_error();
}

}  // namespace stope
