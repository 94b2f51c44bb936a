// A parsed JSON text, 8 bytes or 16 a value. A file of short numbers becomes a tree of a few times its bytes, where a
// node of pointers and strings a number would take fifty times as much. nlohmann-json parses it through its event
// interface. Its own tree is not used for another reason, too: it allocates while it is destroyed, so that running out
// of memory half-way would end the process (promise 4).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace stope::io {

class JsonBuilder;
class JsonTree;

/// One value of a tree that outlives it. A truth value keeps only its kind: no file that stope reads gives it a
/// meaning.
class JsonValue {
 public:
  enum class Kind { null, boolean, number, string, array, object };
  struct Item;
  class Items;

  Kind kind() const;
  /// "a string", "a list", ... for error messages.
  std::string_view kind_name() const;
  /// A string's text; empty for other values.
  std::string_view text() const;
  /// A number's value; 0 for other values.
  double number() const;
  /// How many items an array or an object has.
  std::int64_t size() const;
  /// The items of an array, or the members of an object in file order; no name stands twice.
  Items items() const;
  /// An object's member of that name.
  std::optional<JsonValue> find(std::string_view name) const;

 private:
  friend class JsonTree;
  friend class Items;
  friend class JsonBuilder;
  JsonValue(const JsonTree& tree, std::int64_t at) : tree_(&tree), at_(at) {}
  std::int64_t end() const;  // the word behind it

  const JsonTree* tree_;
  std::int64_t at_;
};

struct JsonValue::Item {
  std::string_view name;  ///< empty in an array
  JsonValue value;
};

class JsonValue::Items {
 public:
  class Iterator {
   public:
    Iterator(const JsonTree& tree, std::int64_t at, bool named) : tree_(&tree), at_(at), named_(named) {}
    Item operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const JsonTree* tree_;
    std::int64_t at_;
    bool named_;
  };
  Items(Iterator begin, Iterator end) : begin_(begin), end_(end) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_, end_;
};

class JsonTree {
 public:
  JsonValue root() const { return {*this, 0}; }
  /// Upper bound of what the tree takes.
  std::int64_t bytes() const { return bytes_; }

 private:
  friend class JsonValue;
  friend class JsonBuilder;
  // A value is a word: its tag, and for strings place and length of the text, for arrays and objects the word behind
  // them and the number of items, for whole numbers the number. Another number follows as a word of its own. A member
  // of an object is its name, a string, and its value.
  std::deque<std::uint64_t> words_;  // does not move its elements: growing takes no second copy
  std::string texts_;                // of all strings, one after the other
  std::int64_t bytes_ = 0;
};

/// Parses a whole text. Throws invalid_data with file:line:column for text that is no JSON, and without a place for
/// more than 32 levels of nesting, a key that stands twice in an object, and a text of 1 GiB or more; out_of_memory
/// where the tree exceeds `budget` bytes.
JsonTree parse_json(std::string_view text, const std::string& name, std::int64_t budget = INT64_MAX);

}  // namespace stope::io
