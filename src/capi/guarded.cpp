#include "capi/guarded.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace stope::capi {
namespace {

static_assert(STOPE_INVALID_ARGUMENT == 1 + static_cast<int>(ErrorCode::invalid_argument));
static_assert(STOPE_INVALID_DATA == 1 + static_cast<int>(ErrorCode::invalid_data));
static_assert(STOPE_UNSUPPORTED == 1 + static_cast<int>(ErrorCode::unsupported));
static_assert(STOPE_OUT_OF_MEMORY == 1 + static_cast<int>(ErrorCode::out_of_memory));
static_assert(STOPE_DEVICE_UNAVAILABLE == 1 + static_cast<int>(ErrorCode::device_unavailable));
static_assert(STOPE_DEVICE_LOST == 1 + static_cast<int>(ErrorCode::device_lost));
static_assert(STOPE_CANCELLED == 1 + static_cast<int>(ErrorCode::cancelled));
static_assert(STOPE_IO == 1 + static_cast<int>(ErrorCode::io));
static_assert(STOPE_INTERNAL == 1 + static_cast<int>(ErrorCode::internal));

// Copies what fits, ends it with NUL, and cuts no character of UTF-8 in two.
template <std::size_t size>
void copy_text(char (&to)[size], std::string_view text) noexcept {
  std::size_t n = std::min(text.size(), size - 1);
  while (n < text.size() && n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U) --n;
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

// A caller of an older version has a shorter structure.
void hand_over(stope_error* error, stope_error& filled) noexcept {
  filled.size = error->size;
  std::memcpy(error, &filled, std::min<std::size_t>(error->size, sizeof filled));
}

// The name here of an option that is a map in the C++ API.
std::string_view name_here(std::string_view option) noexcept {
  if (option == "metric_params") return "metric";
  if (option == "class_weights") return "class_weight";
  return option;
}

stope_error empty() noexcept {
  stope_error none{};
  none.row = none.bytes = -1;
  return none;
}

}  // namespace

void clear(stope_error* error) noexcept {
  if (error == nullptr) return;
  stope_error none = empty();
  hand_over(error, none);
}

stope_code fill(stope_error* error, const Error& what) noexcept {
  const auto code = static_cast<stope_code>(1 + static_cast<int>(what.code()));
  if (error == nullptr) return code;
  stope_error filled = empty();
  filled.code = code;
  filled.line = what.line();
  filled.column = what.column();
  filled.row = what.row();
  filled.bytes = what.bytes();
  copy_text(filled.option, name_here(what.option()));
  copy_text(filled.feature, what.feature());
  copy_text(filled.message, what.what());
  hand_over(error, filled);
  return code;
}

}  // namespace stope::capi
