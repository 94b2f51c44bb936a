// Options by name. A job names its options once, to a visitor: one visitor reads what the caller has set, another one
// describes them as JSON. So names, types, defaults and choices stand in one place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stope/error.hpp"
#include "stope/jobs.hpp"
#include "stope/names.hpp"

namespace stope::jobs {

using Names = std::vector<std::string>;

/// Is told every option of a job: its name, the variable that takes its value, and what it means.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void text(const char* name, std::string& value, const char* help) = 0;
  virtual void integer(const char* name, std::int64_t& value, const char* help) = 0;
  virtual void real(const char* name, double& value, const char* help) = 0;
  virtual void flag(const char* name, bool& value, const char* help) = 0;
  virtual void list(const char* name, Names& value, const char* help) = 0;
  /// A single byte, or "tab"; '\0' is an empty text.
  void character(const char* name, char& value, const char* help);
  virtual void numbers(const char* name, std::vector<double>& value, const char* help) = 0;
  /// "PREFIX.NAME" for any NAME.
  virtual void named(const char* prefix, std::map<std::string, std::string>& values, const char* help) = 0;

  template <class Choice>
  void choice(const char* name, Choice& value, Choice (*parse)(std::string_view), const char* help) {
    std::string word(to_string(value));
    word_of(name, word, names_of<Choice>(), help);
    try {
      value = parse(word);
    } catch (const Error& error) {  // the core may have another name for the option
      throw Error(error.code(), error.message(), {.option = name});
    }
  }
  /// Whether all options are described, also those that only some values of another option take.
  virtual bool describes() const { return false; }
  /// A word that is no enumeration of the core.
  void one_of(const char* name, std::string& value, const Names& choices, const char* help);
  /// -1 stands for none.
  void optional_integer(const char* name, std::optional<std::int64_t>& value, const char* help);

 protected:
  virtual void word_of(const char* name, std::string& value, const Names& choices, const char* help) = 0;
  virtual bool is_set(const char* name) const = 0;
};

class Reader final : public Visitor {
 public:
  explicit Reader(const NamedOptions& options) : options_(options) {}
  void text(const char* name, std::string& value, const char* help) override;
  void integer(const char* name, std::int64_t& value, const char* help) override;
  void real(const char* name, double& value, const char* help) override;
  void flag(const char* name, bool& value, const char* help) override;
  void list(const char* name, Names& value, const char* help) override;
  void numbers(const char* name, std::vector<double>& value, const char* help) override;
  void named(const char* prefix, std::map<std::string, std::string>& values, const char* help) override;
  void require_known(std::string_view job) const;

 protected:
  void word_of(const char* name, std::string& value, const Names& choices, const char* help) override;
  bool is_set(const char* name) const override;

 private:
  const std::string* find(const char* name);

  const NamedOptions& options_;
  std::set<std::string> known_, number_lists_;
  Names prefixes_;
};

/// A job's options as the caller has set them: a Job has a member visit(Visitor&), which names them. Throws
/// invalid_argument for a name that the job does not know, with the nearest one that it knows, and for a value that is
/// none. `job` is its name in messages.
template <class Job>
Job read_options(const NamedOptions& options, std::string_view job) {
  Job wanted;
  Reader reader(options);
  wanted.visit(reader);
  reader.require_known(job);
  return wanted;
}

/// The JSON list of describe_options().
class Describer final : public Visitor {
 public:
  void text(const char* name, std::string& value, const char* help) override;
  void integer(const char* name, std::int64_t& value, const char* help) override;
  void real(const char* name, double& value, const char* help) override;
  void flag(const char* name, bool& value, const char* help) override;
  void list(const char* name, Names& value, const char* help) override;
  void numbers(const char* name, std::vector<double>& value, const char* help) override;
  void named(const char* prefix, std::map<std::string, std::string>& values, const char* help) override;
  std::string json() const { return "[" + items_ + "]"; }
  bool describes() const override { return true; }

 protected:
  void word_of(const char* name, std::string& value, const Names& choices, const char* help) override;
  bool is_set(const char* /*name*/) const override { return false; }

 private:
  void add(const std::string& name, const char* type, const std::string& default_json, const Names& choices,
           const char* help);
  std::string items_;
};

}  // namespace stope::jobs
