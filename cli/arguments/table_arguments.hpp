// The options that say how tables are read. A command's second table is read with the roles, types and names of the
// first, as far as it has those columns.
#pragma once

#include <string>

#include "arguments/preparation.hpp"
#include "report/session.hpp"
#include "stope/io.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

enum class Tables { one, two };

struct TableArguments {
  ReadOptions read;
  std::string test_schema;
  std::vector<std::string> test_names;

  Preparation after;  // where the command has --after, it is part of both functions that read

  void add_to(CLI::App& app, Tables tables);
  /// For commands with --missing-policy. Before that option existed, "--missing drop" asked for a policy. Now it would
  /// silently count cells that read "drop" as missing. Throws invalid_argument if the only spelling is a policy's name.
  void refuse_policy_as_spelling() const;
  /// The same for commands with --impute.
  void refuse_imputation_as_spelling() const;
  /// Warns of the same in commands without that option; `instead` says what holds there.
  void warn_of_policy_as_spelling(Session& session, std::string_view instead) const;

  /// Reads the first table.
  Table read_first(const std::string& path, Session& session);
  /// Reads the second table. Columns whose names occur in `first` get their roles and types from it.
  Table read_second(const std::string& path, const Table& first, Session& session);

 private:
  Table read_as_prepared(const std::string& path, ReadOptions how, Session& session);
  bool spells_missing_as_policy() const;
};

/// Throws invalid_argument if both paths are standard input.
void require_one_stdin(const std::string& first, const std::string& second);

/// Returns the format that a name stands for, e.g. "npy". Throws invalid_argument, naming the nearest one.
Format parse_format(const std::string& name, const std::string& option);

}  // namespace stope::cli
