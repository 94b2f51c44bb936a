// Reads the KEY=VALUE words of a benchmark's command line.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "stope/error.hpp"

namespace stope::bench {

/// Only keys that the program asks for may be given.
class Words {
 public:
  /// The words after the first `n_plain` arguments.
  Words(int argc, char** argv, int n_plain) {
    for (int i = n_plain; i < argc; ++i) add(argv[i]);
  }
  /// The words of a line, separated by blanks.
  explicit Words(const std::string& line) {
    std::istringstream stream(line);
    for (std::string word; stream >> word;) add(word);
  }

  std::string text(const std::string& key, const std::string& otherwise) {
    const auto found = words_.find(key);
    if (found == words_.end()) return otherwise;
    std::string value = found->second;
    words_.erase(found);
    return value;
  }
  std::int64_t integer(const std::string& key, std::int64_t otherwise) {
    return std::atoll(text(key, std::to_string(otherwise)).c_str());
  }
  double number(const std::string& key, double otherwise) {
    return std::atof(text(key, std::to_string(otherwise)).c_str());
  }

  /// Throws if a word is left that the program did not ask for.
  void done() const {
    if (!words_.empty()) throw Error(ErrorCode::invalid_argument, "unknown word '" + words_.begin()->first + "'");
  }

 private:
  void add(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::invalid_argument, "'" + word + "' is not KEY=VALUE");
    words_[word.substr(0, equals)] = word.substr(equals + 1);
  }

  std::map<std::string, std::string> words_;
};

}  // namespace stope::bench
