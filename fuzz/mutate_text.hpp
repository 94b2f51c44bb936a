// A mutator of tables as text, for CSV and ARFF: lines and fields are moved, doubled, removed and replaced.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutate.hpp"

namespace stope::fuzz {

class TextMutator {
 public:
  /// `words`: what fields are replaced by, besides numbers.
  TextMutator(std::string_view text, std::span<const std::string_view> words, Choices& choices)
      : words_(words), choices_(choices) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      lines_.emplace_back(text.substr(begin, end - begin));
      begin = end;
    }
    if (lines_.empty()) lines_.emplace_back("\n");
  }

  std::string mutated() {
    for (std::size_t n = 1 + choices_.below(3); n > 0; --n) change();
    std::string text;
    for (const std::string& line : lines_) text += line;
    return text;
  }

 private:
  static constexpr std::string_view kSeparators = ",;\t |{}'\" ";

  std::string& line() { return lines_[choices_.below(lines_.size())]; }
  std::size_t place() { return choices_.below(lines_.size() + 1); }

  void change() {
    const std::size_t from = choices_.below(lines_.size());
    switch (choices_.below(12)) {
      case 0: std::swap(lines_[from], line()); break;
      case 1: lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(place()), std::string(lines_[from])); break;
      case 2:
        if (lines_.size() > 1) lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(from));
        break;
      case 3: {  // many lines alike: whole blocks for the kernels
        const std::string copy = lines_[from];
        lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(from), 1 + choices_.below(70), copy);
        break;
      }
      case 4: end_otherwise(lines_[from]); break;
      case 5: column(); break;
      default: field(lines_[from]); break;
    }
  }

  void end_otherwise(std::string& line) {
    constexpr std::array<std::string_view, 6> kEnds{"\n", "\r\n", "\r", "", "\n\n", " \n"};
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    line += choices_.of(kEnds);
  }

  // Where the fields of a line begin and end.
  static std::vector<std::pair<std::size_t, std::size_t>> fields(std::string_view line) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= line.size(); ++i) {
      const bool ends = i == line.size() || line[i] == '\n' || line[i] == '\r';
      if (!ends && kSeparators.find(line[i]) == std::string_view::npos) continue;
      found.emplace_back(begin, i);
      if (ends) break;
      begin = i + 1;
    }
    return found;
  }

  std::string word() {
    if (words_.empty() || choices_.one_in(2)) return choices_.of(kNumberWords);
    return std::string(choices_.of(words_));
  }

  void field(std::string& line) {
    const auto all = fields(line);
    const auto [begin, end] = choices_.of(all);
    const std::string old = line.substr(begin, end - begin);
    std::string fresh;
    switch (choices_.below(9)) {
      case 0: break;
      case 1: fresh = '"' + old + '"'; break;
      case 2: fresh = old + "\"\"" + old; break;
      case 3: fresh = old + kSeparators[choices_.below(kSeparators.size())] + old; break;
      case 4: fresh = std::string(choices_.below(200), old.empty() ? '7' : old[0]); break;
      case 5: fresh = mutated_by_libfuzzer(old, old.size() + 8); break;
      case 6: fresh = '\'' + old + '\''; break;
      default: fresh = word(); break;
    }
    line.replace(begin, end - begin, fresh);
  }

  // One field of every line, so that a column gets another type.
  void column() {
    const std::size_t which = choices_.below(6);
    const std::string fresh = word();
    const bool all = choices_.one_in(2);
    for (std::string& line : lines_) {
      const auto parts = fields(line);
      if (which >= parts.size() || (!all && choices_.one_in(3))) continue;
      line.replace(parts[which].first, parts[which].second - parts[which].first, fresh);
    }
  }

  std::span<const std::string_view> words_;
  Choices& choices_;
  std::vector<std::string> lines_;
};

/// Mutates a target's input: `head` bytes of choices, then a text. One time in four libFuzzer mutates all of it.
inline std::size_t mutate_text(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed, std::size_t head,
                               std::span<const std::string_view> words) {
  return mutate_with(data, size, most, seed, [&](std::string input, Choices& choices) {
    if (input.size() <= head || choices.one_in(4)) return mutated_by_libfuzzer(std::move(input), most);
    if (head > 0 && choices.one_in(8)) input[choices.below(head)] = static_cast<char>(choices.bits());
    return input.substr(0, head) + TextMutator(std::string_view(input).substr(head), words, choices).mutated();
  });
}

}  // namespace stope::fuzz
