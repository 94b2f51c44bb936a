#include "io/json_tree.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/name_index.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 32;  // a schema needs 4; the limit stops files made of a million brackets

// A word has a tag of 3 bits and two parts of 30: a text of less than 2^30 bytes has as many words and letters.
enum class Tag : std::uint64_t { null, boolean, real, whole, string, array, object };
constexpr int kTagBits = 3, kPartBits = 30;
constexpr std::uint64_t kPart = (std::uint64_t{1} << kPartBits) - 1;
constexpr std::int64_t kMostWhole = std::int64_t{1} << 53;  // exact as a double

std::uint64_t word_of(Tag tag, std::uint64_t first = 0, std::uint64_t second = 0) {
  return static_cast<std::uint64_t>(tag) | (first << kTagBits) | (second << (kTagBits + kPartBits));
}
Tag tag_of(std::uint64_t word) {
  return static_cast<Tag>(word & ((1u << kTagBits) - 1));
}
std::uint64_t first_of(std::uint64_t word) {
  return (word >> kTagBits) & kPart;
}
std::uint64_t second_of(std::uint64_t word) {
  return word >> (kTagBits + kPartBits);
}

/// Line and column of a byte, both from 1.
Place place_of(std::string_view text, std::size_t byte, const std::string& name) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0: the first line
  return {name, static_cast<std::int64_t>(lines) + 1, static_cast<std::int64_t>(before.size() - line_start) + 1};
}

}  // namespace

/// Builds the tree from the parser's events.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(std::string_view text, const std::string& name, std::int64_t budget)
      : text_(text), name_(name), budget_(budget) {}

  JsonTree take() { return std::move(tree_); }

  bool null() override { return add(word_of(Tag::null)); }
  bool boolean(bool) override { return add(word_of(Tag::boolean)); }
  bool number_integer(number_integer_t value) override {
    return value >= -kMostWhole ? whole(value) : real(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return value <= std::uint64_t{kMostWhole} ? whole(static_cast<std::int64_t>(value))
                                              : real(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return real(value); }
  bool string(string_t& value) override { return add(string_word(value)); }
  bool binary(binary_t&) override { return false; }  // no JSON text has one

  bool start_object(std::size_t) override { return open(Tag::object); }
  bool start_array(std::size_t) override { return open(Tag::array); }
  bool end_object() override {
    close(Tag::object);
    check_names(static_cast<std::int64_t>(open_.back().at));
    open_.pop_back();
    return true;
  }
  bool end_array() override {
    close(Tag::array);
    open_.pop_back();
    return true;
  }
  bool key(string_t& value) override {
    put(string_word(value));
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
    std::size_t at;           // its word
    std::uint64_t items = 0;  // so far
  };

  [[noreturn]] void fail(const std::string& message) const { throw Error(ErrorCode::invalid_data, message, {name_}); }

  // Throws if the tree and `more` bytes exceed the budget.
  void require(std::int64_t more) const {
    if (more <= budget_ - tree_.bytes_) return;
    throw Error(ErrorCode::out_of_memory,
                "the JSON needs more than " + std::to_string(tree_.bytes_ + more) +
                    " bytes in memory, but the memory limit leaves " + std::to_string(budget_),
                {name_});
  }
  void count(std::int64_t bytes) {
    require(bytes);
    tree_.bytes_ += bytes;
  }

  void put(std::uint64_t word) {
    count(sizeof word);
    tree_.words_.push_back(word);
  }
  bool add(std::uint64_t word) {
    if (!open_.empty()) ++open_.back().items;
    put(word);
    return true;
  }
  bool whole(std::int64_t value) {
    return add(static_cast<std::uint64_t>(value) << kTagBits | static_cast<std::uint64_t>(Tag::whole));
  }
  bool real(double value) {
    add(word_of(Tag::real));
    put(std::bit_cast<std::uint64_t>(value));
    return true;
  }
  std::uint64_t string_word(const std::string& value) {
    constexpr std::int64_t kGrowth = 3;  // a text that grows is there with its next, twice as large copy
    count(kGrowth * static_cast<std::int64_t>(value.size()));
    const std::size_t at = tree_.texts_.size();
    tree_.texts_ += value;
    return word_of(Tag::string, at, value.size());
  }

  bool open(Tag tag) {
    if (open_.size() == kMaxDepth) {
      fail("the JSON is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    add(word_of(tag));
    open_.push_back({tree_.words_.size() - 1});
    return true;
  }
  void close(Tag tag) {
    const Open& done = open_.back();
    tree_.words_[done.at] = word_of(tag, tree_.words_.size(), done.items);
  }

  // The names are compared when all are there: their texts may move until then.
  void check_names(std::int64_t at) const {
    const JsonValue object(tree_, at);
    constexpr std::int64_t kIndexed = 40;  // a name's view and its slots in the index
    require(kIndexed * object.size());
    NameIndex names(static_cast<std::size_t>(object.size()));
    for (const auto& [name, value] : object.items()) {
      if (names.add(name) >= 0) fail("the key '" + std::string(name) + "' occurs twice in an object");
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::int64_t budget_;
  std::vector<Open> open_;
  JsonTree tree_;
};

JsonValue::Kind JsonValue::kind() const {
  switch (tag_of(tree_->words_[static_cast<std::size_t>(at_)])) {
    case Tag::null: return Kind::null;
    case Tag::boolean: return Kind::boolean;
    case Tag::real:
    case Tag::whole: return Kind::number;
    case Tag::string: return Kind::string;
    case Tag::array: return Kind::array;
    case Tag::object: break;
  }
  return Kind::object;
}

std::string_view JsonValue::kind_name() const {
  switch (kind()) {
    case Kind::null: return "null";
    case Kind::boolean: return "a boolean";
    case Kind::number: return "a number";
    case Kind::string: return "a string";
    case Kind::array: return "a list";
    case Kind::object: break;
  }
  return "an object";
}

std::string_view JsonValue::text() const {
  const std::uint64_t word = tree_->words_[static_cast<std::size_t>(at_)];
  if (tag_of(word) != Tag::string) return {};
  return std::string_view(tree_->texts_).substr(first_of(word), second_of(word));
}

double JsonValue::number() const {
  const std::uint64_t word = tree_->words_[static_cast<std::size_t>(at_)];
  if (tag_of(word) == Tag::whole) return static_cast<double>(static_cast<std::int64_t>(word) >> kTagBits);
  if (tag_of(word) != Tag::real) return 0.0;
  return std::bit_cast<double>(tree_->words_[static_cast<std::size_t>(at_) + 1]);
}

std::int64_t JsonValue::size() const {
  const std::uint64_t word = tree_->words_[static_cast<std::size_t>(at_)];
  return tag_of(word) == Tag::array || tag_of(word) == Tag::object ? static_cast<std::int64_t>(second_of(word)) : 0;
}

std::int64_t JsonValue::end() const {
  const std::uint64_t word = tree_->words_[static_cast<std::size_t>(at_)];
  if (tag_of(word) == Tag::array || tag_of(word) == Tag::object) return static_cast<std::int64_t>(first_of(word));
  return at_ + (tag_of(word) == Tag::real ? 2 : 1);
}

JsonValue::Items JsonValue::items() const {
  const bool named = kind() == Kind::object;
  const std::int64_t end_of_items = size() > 0 ? end() : at_ + 1;
  return {{*tree_, at_ + 1, named}, {*tree_, end_of_items, named}};
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
  if (kind() != Kind::object) return std::nullopt;
  for (const Item& item : items()) {
    if (item.name == name) return item.value;
  }
  return std::nullopt;
}

JsonValue::Item JsonValue::Items::Iterator::operator*() const {
  if (!named_) return {{}, JsonValue(*tree_, at_)};
  return {JsonValue(*tree_, at_).text(), JsonValue(*tree_, at_ + 1)};
}

JsonValue::Items::Iterator& JsonValue::Items::Iterator::operator++() {
  at_ = JsonValue(*tree_, named_ ? at_ + 1 : at_).end();
  return *this;
}

JsonTree parse_json(std::string_view text, const std::string& name, std::int64_t budget) {
  if (text.size() >= kPart) {
    throw Error(ErrorCode::invalid_data, "a JSON text of " + std::to_string(text.size()) + " bytes is too long",
                {name});
  }
  JsonBuilder builder(text, name, budget);
  // It returns false only if an event does, and our events throw instead.
  if (!Json::sax_parse(text.begin(), text.end(), &builder))
    throw Error(ErrorCode::invalid_data, "not a JSON text", {name});
  return builder.take();
}

}  // namespace stope::io
