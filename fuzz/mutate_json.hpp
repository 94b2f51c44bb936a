// A mutator of JSON texts: values and members of the tree are replaced, moved, doubled, removed and nested.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutate.hpp"

namespace stope::fuzz {

class JsonMutator {
 public:
  using Json = nlohmann::ordered_json;

  /// `words`: strings of known meaning.
  JsonMutator(Json root, std::span<const std::string_view> words, Choices& choices)
      : root_(std::move(root)), words_(words), choices_(choices) {}

  std::string mutated() {
    for (std::size_t n = 1 + choices_.below(3); n > 0; --n) {
      nodes_.clear();
      collect(root_);
      change(*choices_.of(nodes_));
    }
    return text();
  }

 private:
  static constexpr std::string_view kRaw = "@raw ";  // a string that begins so is written without its quotes

  void collect(Json& node) {
    nodes_.push_back(&node);
    if (!node.is_structured()) return;
    for (Json& child : node) collect(child);
  }

  Json fresh() {
    switch (choices_.below(8)) {
      case 0: return choices_.of(kNumbers);
      case 1: return std::string(kRaw) + choices_.of(kNumberWords);
      case 2: return nullptr;
      case 3: return choices_.one_in(2);
      case 4: return Json::array();
      case 5: return Json::object();
      case 6: return Json(*choices_.of(nodes_));
      default: return words_.empty() ? Json("?") : Json(choices_.of(words_));
    }
  }

  void change(Json& node) {
    if (node.is_array() && !node.empty() && !choices_.one_in(5)) return change_array(node);
    if (node.is_object() && !node.empty() && !choices_.one_in(5)) return change_object(node);
    if (node.is_string() && choices_.one_in(2)) {
      node = printable(mutated_by_libfuzzer(node.get<std::string>(), 40));
    } else if (node.is_number() && choices_.one_in(2)) {
      const double x = node.get<double>();
      node = choices_.one_in(2) ? std::nextafter(x, HUGE_VAL) : -x;
    } else if (choices_.one_in(4)) {  // deeper
      Json inner = std::move(node);
      for (std::size_t depth = 1 + choices_.below(choices_.one_in(20) ? 300 : 3); depth > 0; --depth)
        inner = Json::array({std::move(inner)});
      node = std::move(inner);
    } else {
      Json made = fresh();
      node = std::move(made);
    }
  }

  void change_array(Json& array) {
    const std::size_t at = choices_.below(array.size()), other = choices_.below(array.size());
    const auto place = array.begin() + static_cast<std::ptrdiff_t>(at);
    switch (choices_.below(5)) {
      case 0: std::swap(array[at], array[other]); break;
      case 1: {
        Json copy = array[other];
        array.insert(place, std::move(copy));
        break;
      }
      case 2: array.erase(place); break;
      case 3: {
        Json made = fresh();
        array.insert(place, std::move(made));
        break;
      }
      default: {
        Json made = fresh();
        array[at] = std::move(made);
      }
    }
  }

  void change_object(Json& object) {
    auto at = object.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(choices_.below(object.size())));
    const std::string name = at.key();
    Json value = at.value();
    switch (choices_.below(4)) {
      case 0: object.erase(name); break;
      case 1: object[words_.empty() ? name + "2" : std::string(choices_.of(words_))] = std::move(value); break;
      case 2: {
        Json made = fresh();
        object[name] = std::move(made);
        break;
      }
      default: object.erase(name); object[printable(mutated_by_libfuzzer(name, 40))] = std::move(value);
    }
  }

  // The strings of a tree must be UTF-8 to be written; the other half of the mutations breaks texts.
  static std::string printable(std::string text) {
    for (char& c : text) c = static_cast<char>(c & 0x7f);
    return text;
  }

  std::string text() const {
    std::string made;
    // One time in eight a member stands twice, which no tree can say.
    const bool twice = root_.is_object() && !root_.empty() && choices_.one_in(8);
    if (twice) {
      const auto first = root_.begin();
      made = "{" + Json(first.key()).dump() + ": " + first.value().dump() + ", " + root_.dump().substr(1);
    } else {
      made = root_.dump(choices_.one_in(4) ? 1 : -1);
    }
    const std::string mark = '"' + std::string(kRaw);
    for (std::size_t at = made.find(mark); at != std::string::npos; at = made.find(mark, at)) {
      made.erase(at, mark.size());
      const std::size_t quote = made.find('"', at);
      if (quote != std::string::npos) made.erase(quote, 1);
    }
    return made;
  }

  Json root_;
  std::span<const std::string_view> words_;
  Choices& choices_;
  std::vector<Json*> nodes_;
};

/// Mutates a target's input: `head` bytes of choices, then a JSON text. One time in four, or where the text is no JSON,
/// libFuzzer mutates all of it.
inline std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed, std::size_t head,
                               std::span<const std::string_view> words) {
  return mutate_with(data, size, most, seed, [&](std::string input, Choices& choices) {
    if (input.size() <= head || choices.one_in(4)) return mutated_by_libfuzzer(std::move(input), most);
    JsonMutator::Json root =
        JsonMutator::Json::parse(input.begin() + static_cast<std::ptrdiff_t>(head), input.end(), nullptr, false);
    if (root.is_discarded()) return mutated_by_libfuzzer(std::move(input), most);
    return input.substr(0, head) + JsonMutator(std::move(root), words, choices).mutated();
  });
}

}  // namespace stope::fuzz
