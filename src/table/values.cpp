#include "stope/values.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/guarded.hpp"
#include "stope/error.hpp"
#include "stope/table.hpp"

namespace stope {

struct Values::List {
  std::vector<std::string> names;
  mutable std::once_flag hashed;
  mutable std::unordered_map<std::string_view, std::int32_t> codes;
};

Values::Values(std::vector<std::string> names) try {
  if (names.empty()) return;
  if (names.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(ErrorCode::invalid_argument, std::to_string(names.size()) + " values are more than codes can count");
  }
  auto list = std::make_shared<List>();
  list->names = std::move(names);
  first_ = list->names.data();
  size_ = list->names.size();
  list_ = std::move(list);
} catch (...) {
  rethrow_as_error();
}

Values::Values(std::initializer_list<std::string> names) try : Values(std::vector<std::string>(names)) {
} catch (...) {
  rethrow_as_error();
}

Values::Values(Values&& other) noexcept
    : list_(std::move(other.list_)),
      first_(std::exchange(other.first_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Values& Values::operator=(Values&& other) noexcept {
  list_ = std::move(other.list_);
  first_ = std::exchange(other.first_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

const std::vector<std::string>& Values::names() const noexcept {
  static const std::vector<std::string> none;
  return list_ == nullptr ? none : list_->names;
}

std::int32_t Values::code_of(std::string_view name) const try {
  if (list_ == nullptr) return kUnseenCode;
  std::call_once(list_->hashed, [&] {
    std::unordered_map<std::string_view, std::int32_t> codes;
    codes.reserve(list_->names.size());
    std::int32_t code = 0;
    for (const std::string& each : list_->names) codes.emplace(each, code++);  // keeps the first of equal names
    list_->codes = std::move(codes);
  });
  const auto found = list_->codes.find(name);
  return found == list_->codes.end() ? kUnseenCode : found->second;
} catch (...) {
  rethrow_as_error();
}

bool operator==(const Values& a, const Values& b) noexcept {
  return a.list_ == b.list_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace stope
