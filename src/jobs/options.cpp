// Reading and describing options.
#include "jobs/options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "stope/error.hpp"
#include "stope/nearest_name.hpp"
#include "stope/words.hpp"

namespace stope::jobs {
namespace {

[[noreturn]] void refuse(const char* option, const std::string& word, const std::string& problem) {
  throw Error(ErrorCode::invalid_argument, std::string(option) + ": '" + word + "' " + problem, {.option = option});
}

// No text is no item; an empty item is "".
Names split(const char* option, const std::string& text) {
  return text.empty() ? Names() : split_list(text, option);
}

}  // namespace

void Visitor::character(const char* name, char& value, const char* help) {
  std::string word;
  if (value != '\0') word = value;
  text(name, word, help);
  if (word == "tab") word = "\t";
  if (word.size() > 1) refuse(name, word, "is not a single byte");
  value = word.empty() ? '\0' : word.front();
}

void Visitor::one_of(const char* name, std::string& value, const Names& choices, const char* help) {
  word_of(name, value, choices, help);
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  std::string all;
  for (const std::string& one : choices) all += (all.empty() ? "" : ", ") + (one.empty() ? "nothing" : one);
  refuse(name, value, "is none of " + all + did_you_mean(value, choices));
}

void Visitor::optional_integer(const char* name, std::optional<std::int64_t>& value, const char* help) {
  std::int64_t number = value.value_or(-1);
  integer(name, number, help);
  if (is_set(name)) value = number == -1 ? std::nullopt : std::optional(number);
}

// ---- reading ----

const std::string* Reader::find(const char* name) {
  known_.insert(name);
  const auto found = options_.texts.find(name);
  return found == options_.texts.end() ? nullptr : &found->second;
}

bool Reader::is_set(const char* name) const {
  return options_.texts.contains(name);
}

void Reader::text(const char* name, std::string& value, const char* /*help*/) {
  if (const std::string* word = find(name)) value = *word;
}
void Reader::integer(const char* name, std::int64_t& value, const char* /*help*/) {
  if (const std::string* word = find(name)) value = parse_integer(*word, name);
}
void Reader::real(const char* name, double& value, const char* /*help*/) {
  if (const std::string* word = find(name)) value = parse_real(*word, name);
}
void Reader::flag(const char* name, bool& value, const char* /*help*/) {
  const std::string* word = find(name);
  if (word == nullptr) return;
  if (*word != "true" && *word != "false" && *word != "1" && *word != "0") refuse(name, *word, "is not true or false");
  value = *word == "true" || *word == "1";
}
void Reader::list(const char* name, Names& value, const char* /*help*/) {
  if (const std::string* word = find(name)) value = split(name, *word);
}
void Reader::numbers(const char* name, std::vector<double>& value, const char* /*help*/) {
  number_lists_.insert(name);
  if (const auto found = options_.numbers.find(name); found != options_.numbers.end()) value = found->second;
  const std::string* word = find(name);
  if (word == nullptr) return;
  value.clear();
  for (const std::string& item : split(name, *word)) value.push_back(parse_real(item, name));
}
void Reader::named(const char* prefix, std::map<std::string, std::string>& values, const char* /*help*/) {
  const std::string begin = std::string(prefix) + ".";
  prefixes_.push_back(begin);
  for (const auto& [name, value] : options_.texts) {
    if (name.starts_with(begin)) values[name.substr(begin.size())] = value;
  }
}
void Reader::word_of(const char* name, std::string& value, const Names& /*choices*/, const char* /*help*/) {
  if (const std::string* word = find(name)) value = *word;
}

void Reader::require_known(std::string_view job) const {
  const auto check = [&](const std::string& name) {
    if (known_.contains(name)) return;
    for (const std::string& prefix : prefixes_) {
      if (name.starts_with(prefix)) return;
    }
    throw Error(
        ErrorCode::invalid_argument,
        std::string(job) + " has no option '" + name + "'" + did_you_mean(name, Names(known_.begin(), known_.end())),
        {.option = name});
  };
  for (const auto& [name, value] : options_.texts) check(name);
  for (const auto& [name, value] : options_.numbers) {
    check(name);
    if (number_lists_.contains(name)) continue;
    throw Error(ErrorCode::invalid_argument, "'" + name + "' takes a text, not a list of numbers", {.option = name});
  }
}

// ---- describing ----

void Describer::add(const std::string& name, const char* type, const std::string& default_json, const Names& choices,
                    const char* help) {
  nlohmann::ordered_json item = {
      {"name", name}, {"type", type}, {"default", nlohmann::json::parse(default_json)}, {"help", help}};
  if (!choices.empty()) item["choices"] = choices;
  items_ += (items_.empty() ? "" : ",") + item.dump();
}

void Describer::text(const char* name, std::string& value, const char* help) {
  add(name, "text", nlohmann::json(value).dump(), {}, help);
}
void Describer::integer(const char* name, std::int64_t& value, const char* help) {
  add(name, "integer", nlohmann::json(value).dump(), {}, help);
}
void Describer::real(const char* name, double& value, const char* help) {
  add(name, "real", nlohmann::json(value).dump(), {}, help);
}
void Describer::flag(const char* name, bool& value, const char* help) {
  add(name, "flag", value ? "true" : "false", {}, help);
}
void Describer::list(const char* name, Names& value, const char* help) {
  add(name, "list", nlohmann::json(value).dump(), {}, help);
}
void Describer::numbers(const char* name, std::vector<double>& value, const char* help) {
  add(name, "reals", nlohmann::json(value).dump(), {}, help);
}
void Describer::named(const char* prefix, std::map<std::string, std::string>& values, const char* help) {
  add(std::string(prefix) + ".NAME", "text", nlohmann::json(values).dump(), {}, help);
}
void Describer::word_of(const char* name, std::string& value, const Names& choices, const char* help) {
  add(name, "choice", nlohmann::json(value).dump(), choices, help);
}

}  // namespace stope::jobs
