// The option --after: the table is put through a saved model before anything is fitted to it, and --model-out saves
// both as one chain.
#pragma once

#include <optional>
#include <string>

#include "report/session.hpp"
#include "stope/predictor.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

/// What the command can save of what it fits behind the model.
enum class Saves { nothing, chain };

class Preparation {
 public:
  void add_to(CLI::App& app, Saves saves = Saves::chain);
  bool wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  /// Reads the model, once. Throws invalid_argument for one that gives no table.
  void load(Session& session);
  /// What has to be said of a table that was read with these options, so that it is read as the model's own table was:
  /// types of its columns, and label, id, weight and ignored columns where the options name none. False where there is
  /// nothing to say.
  bool adjust(const Table& table, ReadOptions& how) const;
  /// Columns of the first table, as it was read: a second one is read like it.
  const Table& before() const { return before_; }
  /// The table as the model gives it. Notes the columns of the first one that went in, for joined(). Throws
  /// invalid_argument if the model changes its label, id or weight.
  Table applied(const Table& table, Session& session);
  /// The model of what was fitted behind this one: both as one chain, or the model itself where there is no --after.
  Model joined(Model fitted) const;
  /// Warns that scores of rows that the model has seen are too good. Silent without --after.
  void warn_of_scores(Session& session) const;

 private:
  std::string path_;
  std::optional<Predictor> predictor_;
  Table before_;
};

}  // namespace stope::cli
