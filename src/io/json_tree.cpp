#include "io/json_tree.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "stope/error.hpp"

namespace stope::io {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 32;  // a schema needs 4; the limit stops files made of a million brackets

/// Line and column of a byte, both from 1.
Place place_of(std::string_view text, std::size_t byte, const std::string& name) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0: the first line
  return {name, static_cast<std::int64_t>(lines) + 1, static_cast<std::int64_t>(before.size() - line_start) + 1};
}

/// Builds the tree from the parser's events. Open containers lie on a stack and move into their parent when they end,
/// so that nothing points into a vector that may grow.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(std::string_view text, const std::string& name, std::int64_t budget)
      : text_(text), name_(name), budget_(budget) {}

  JsonTree take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool) override { return add({JsonTree::Kind::boolean, {}, {}, {}}); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t& value) override {
    take(static_cast<std::int64_t>(value.size()));
    return add({JsonTree::Kind::string, value, {}, {}});
  }
  bool binary(binary_t&) override { return false; }  // no JSON text has one

  bool start_object(std::size_t) override { return open(JsonTree::Kind::object); }
  bool start_array(std::size_t) override { return open(JsonTree::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    constexpr std::int64_t kSet = 64;  // a node and a bucket of the set of keys
    take(kSet + 2 * static_cast<std::int64_t>(sizeof(std::string) + value.size()));
    if (!open_.back().keys.insert(value).second) fail("the key '" + value + "' occurs twice in an object");
    open_.back().tree.names.push_back(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ...": keeps the last part.
    // "[json.exception.out_of_range.406] number overflow parsing '1e999'" has only two parts.
    std::string message = error.what();
    if (const std::size_t bracket = message.find("] "); bracket != std::string::npos) message.erase(0, bracket + 2);
    const std::size_t colon = message.find(": ");
    if (colon != std::string::npos) message.erase(0, colon + 2);
    throw Error(ErrorCode::invalid_data, "no valid JSON: " + message,
                place_of(text_, position > 0 ? position - 1 : 0, name_));
  }

 private:
  struct Open {
    JsonTree tree;
    std::unordered_set<std::string> keys;  // the object's keys so far
  };

  [[noreturn]] void fail(const std::string& message) const { throw Error(ErrorCode::invalid_data, message, {name_}); }

  bool number(double value) { return add({JsonTree::Kind::number, {}, {}, {}, value}); }

  bool open(JsonTree::Kind kind) {
    if (open_.size() == kMaxDepth) {
      fail("the JSON is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    open_.emplace_back();
    open_.back().tree.kind = kind;
    return true;
  }

  bool close() {
    JsonTree done = std::move(open_.back().tree);
    open_.pop_back();
    return add(std::move(done));
  }

  // Counts bytes that the tree takes.
  void take(std::int64_t bytes) {
    used_ += bytes;
    if (used_ <= budget_) return;
    throw Error(ErrorCode::out_of_memory,
                "the JSON needs more than " + std::to_string(used_) + " bytes in memory, but the memory limit leaves " +
                    std::to_string(budget_),
                {name_});
  }

  bool add(JsonTree value) {
    constexpr std::int64_t kGrowth = 3;  // a list that grows holds its items and twice as many places for them
    take(kGrowth * static_cast<std::int64_t>(sizeof(JsonTree)));
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back().tree.items.push_back(std::move(value));
    }
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  std::int64_t budget_, used_ = 0;
  std::vector<Open> open_;
  JsonTree root_;
};

}  // namespace

const JsonTree* JsonTree::find(std::string_view key) const {
  const auto name = std::find(names.begin(), names.end(), key);
  return name == names.end() ? nullptr : &items[static_cast<std::size_t>(name - names.begin())];
}

std::string_view JsonTree::kind_name() const {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "a boolean";
    case Kind::number: return "a number";
    case Kind::string: return "a string";
    case Kind::array: return "a list";
    case Kind::object: break;
  }
  return "an object";
}

JsonTree parse_json(std::string_view text, const std::string& name, std::int64_t budget) {
  TreeBuilder builder(text, name, budget);
  // It returns false only if an event does, and our events throw instead.
  if (!Json::sax_parse(text.begin(), text.end(), &builder))
    throw Error(ErrorCode::invalid_data, "not a JSON text", {name});
  return builder.take();
}

}  // namespace stope::io
