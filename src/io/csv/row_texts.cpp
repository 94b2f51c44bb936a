#include "io/csv/row_texts.hpp"

#include <algorithm>
#include <limits>

#include "base/huge_pages.hpp"
#include "base/rank_texts.hpp"
#include "base/zeroed.hpp"

namespace stope::io::csv {
namespace {

constexpr std::int64_t kLeast = 4096, kShare = 32;  // see suits()
// Per row: its text, and two entries while the texts are sorted.
constexpr std::int64_t kRowBytes = sizeof(std::string_view) + 2 * sizeof(RankedText);

}  // namespace

RowTexts::RowTexts(std::size_t n_columns, std::int64_t n_rows, std::int64_t least)
    : n_rows_(n_rows), least_(least > 0 ? least : std::max(kLeast, n_rows / kShare)), columns_(n_columns) {
  if (n_rows > std::numeric_limits<std::int32_t>::max()) least_ = std::numeric_limits<std::int64_t>::max();
}

std::string_view* RowTexts::begin(std::size_t column, MemoryMeter& meter) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<void>& texts = columns_[column];
  if (texts == nullptr) {
    if (!meter.try_take(n_rows_ * kRowBytes)) return nullptr;
    const auto n_bytes = n_rows_ * static_cast<std::int64_t>(sizeof(std::string_view));
    texts = allocate_zeroed_bytes(n_bytes, Storage::memory);
    prefer_huge_pages(texts.get(), static_cast<std::size_t>(n_bytes));
  }
  return static_cast<std::string_view*>(texts.get());
}

std::span<const std::string_view> RowTexts::of(std::size_t column) const {
  if (columns_[column] == nullptr) return {};
  return {static_cast<const std::string_view*>(columns_[column].get()), static_cast<std::size_t>(n_rows_)};
}

}  // namespace stope::io::csv
