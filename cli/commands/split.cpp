// stope split writes the rows of a table into several files: a training and a test part, folds, or parts of any shares.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "report/record_writer.hpp"
#include "report/text_table.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/split.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope split table.csv --holdout 0.3 --target class -o train.csv --test-out test.csv\n"
    "  stope split table.csv --folds 5 -o 'fold-{}.csv'\n"
    "  stope split table.csv --folds 5 -o 'train-{}.csv' --test-out 'test-{}.csv'\n"
    "  stope split table.csv --parts 60,20,20 --group patient --seed 7 -o 'part-{}.csv'\n";

constexpr std::int64_t kMostParts = 1000;  // each is an open file

using Rows = std::vector<std::int64_t>;

// The file of one part: its number, from 1, in the place of {}.
std::string numbered(const std::string& path, std::size_t part) {
  std::string name = path;
  const std::size_t at = name.find("{}");
  if (at != std::string::npos) name.replace(at, 2, std::to_string(part + 1));
  return name;
}

class Split : public Command {
 public:
  explicit Split(CLI::App& program)
      : Command(program, "split", "Split a table into training and test rows, or into parts",
                "Writes the rows of a table into several files, in their order. A nominal --target makes the parts "
                "stratified. The same --seed holds out the same rows as stope evaluate.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to split; '-' reads stdin");
    OptionGroup split(*app, "Splits");
    split.real("--holdout", holdout_, "FRACTION", "Hold out this part of the rows for testing, e.g. 0.3");
    split.integer("--folds,--cv", folds_, "K", "Folds of equal size");
    split.parsed("--parts", "A,B,...", "Parts with these shares of the rows, e.g. 60,20,20",
                 [this](const std::string& word) {
                   shares_.clear();
                   for (const std::string& item : split_list(word, "--parts")) {
                     shares_.push_back(parse_real(item, "--parts"));
                   }
                 });
    split.text("--group", group_, "COLUMN", "Rows with the same value in this column stay together; not stratified");
    OptionGroup output(*app, "Output");
    output.text("-o,--output", output_.path, "FILE",
                "Training rows of --holdout; with --folds and --parts a name with {}, which becomes 1, 2, ...");
    output.text("--test-out", test_out_, "FILE",
                "Test rows of --holdout; with --folds the rows of each fold, and -o then takes all others");
    output_.add_format_to(*app, "split", "Format of all files; default: from the suffix of each");
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check();
    Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    session.note_input("table", table_, table);
    const std::vector<Rows> parts = parts_of(table);
    std::erase_if(table.columns, [](const Column& column) { return column.role == Role::ignore; });
    session.json()["rows"] = table.n_rows;
    session.json()["options"] = {
        {"seed", common.seed}, {"stratified", stratified_}, {"group", group_.empty() ? Json(nullptr) : Json(group_)}};
    write(session, table, parts);
  }

 private:
  void check() const {
    if (count("--holdout") + count("--folds") + count("--parts") != 1) {
      throw Error(ErrorCode::invalid_argument, "give one of --holdout 0.3, --folds 5 and --parts 60,20,20");
    }
    if (output_.path.empty()) {
      throw Error(ErrorCode::invalid_argument, is_holdout() ? "name the files: -o train.csv --test-out test.csv"
                                                            : "name the files: -o 'part-{}.csv'");
    }
    if (is_holdout()) {
      if (holdout_ <= 0 || holdout_ >= 1) {
        throw Error(ErrorCode::invalid_argument, fmt::format("--holdout: {:g} is not between 0 and 1", holdout_));
      }
      if (test_out_.empty()) throw Error(ErrorCode::invalid_argument, "--holdout needs --test-out for the test rows");
    } else {
      require_number("-o", output_.path);
      if (!test_out_.empty()) require_number("--test-out", test_out_);
    }
    if (count("--parts") > 0 && !test_out_.empty()) {
      throw Error(ErrorCode::invalid_argument, "--test-out belongs to --holdout and --folds; -o names all --parts");
    }
    const std::int64_t n = count("--folds") > 0 ? folds_ : std::ssize(shares_);
    if (!is_holdout() && (n < 2 || n > kMostParts)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: {} parts are not from 2 to {}", count("--folds") > 0 ? "--folds" : "--parts", n,
                              kMostParts));
    }
    for (const std::string& path : {output_.path, test_out_}) {
      if (is_stream(path)) {
        throw Error(ErrorCode::invalid_argument, "'" + path + "' is one stream, and the parts need files of their own");
      }
    }
  }

  static void require_number(const std::string& option, const std::string& path) {
    if (path.find("{}") != std::string::npos) return;
    throw Error(ErrorCode::invalid_argument,
                option + ": '" + path + "' needs a {}, which becomes the number of the part: 'part-{}.csv'");
  }

  bool is_holdout() const { return count("--holdout") > 0; }

  // The rows of every part; of a hold-out the test rows are the second one.
  std::vector<Rows> parts_of(const Table& table) {
    const std::vector<double> shares = is_holdout() ? std::vector{1 - holdout_, holdout_}
                                       : count("--folds") > 0
                                           ? std::vector<double>(static_cast<std::size_t>(folds_), 1.0)
                                           : shares_;
    try {
      if (!group_.empty()) return split_groups(codes_of_groups(table), shares, common.seed);
      const std::vector<std::int32_t> labels = labels_of(table);
      stratified_ = !labels.empty();
      if (count("--folds") > 0) return cross_validation_folds(table.n_rows, folds_, common.seed, labels);
      if (!is_holdout()) return split_rows(table.n_rows, shares, common.seed, labels);
      return with_training_rows(table.n_rows, holdout_rows(table.n_rows, holdout_, common.seed, labels));
    } catch (const Error& error) {
      if (!error.file().empty()) throw;
      Place place = error.place();
      place.file = table_;
      throw Error(error.code(), error.message(), place);
    }
  }

  static std::vector<Rows> with_training_rows(std::int64_t n_rows, Rows test) {
    Rows training;
    std::size_t next = 0;
    for (std::int64_t row = 0; row < n_rows; ++row) {
      const bool in_test = next < test.size() && test[next] == row;
      next += in_test ? 1 : 0;
      if (!in_test) training.push_back(row);
    }
    return {std::move(training), std::move(test)};
  }

  static std::vector<std::int32_t> labels_of(const Table& table) {
    const std::int64_t at = table.find(Role::label);
    if (at < 0 || !table.columns[static_cast<std::size_t>(at)].nominal()) return {};
    const Buffer<std::int32_t>& codes = table.columns[static_cast<std::size_t>(at)].codes();
    return {codes.begin(), codes.end()};
  }

  // Equal numbers are one group, as equal names are.
  std::vector<std::int32_t> codes_of_groups(const Table& table) const {
    const Column& column = table.columns[static_cast<std::size_t>(table.find(group_, "--group"))];
    if (column.nominal()) return {column.codes().begin(), column.codes().end()};
    std::map<double, std::int32_t> seen;
    std::vector<std::int32_t> codes;
    codes.reserve(static_cast<std::size_t>(table.n_rows));
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      if (column.missing(row)) {
        codes.push_back(kMissingCode);
      } else {
        codes.push_back(seen.emplace(column.at(row), static_cast<std::int32_t>(seen.size())).first->second);
      }
    }
    return codes;
  }

  struct Target {
    std::string path;
    Rows rows;
  };

  std::vector<Target> targets_of(const std::vector<Rows>& parts, std::int64_t n_rows) const {
    std::vector<Target> targets;
    if (is_holdout()) return {{output_.path, parts[0]}, {test_out_, parts[1]}};
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (test_out_.empty()) {
        targets.push_back({numbered(output_.path, p), parts[p]});
        continue;
      }
      targets.push_back({numbered(output_.path, p), with_training_rows(n_rows, parts[p]).front()});
      targets.push_back({numbered(test_out_, p), parts[p]});
    }
    return targets;
  }

  // check_paths() has seen the names with {}, not those of the files.
  void require_other_files(const std::vector<Target>& targets) const {
    std::set<std::string> seen;
    for (const Target& target : targets) {
      if (!seen.insert(target.path).second) {
        throw Error(ErrorCode::invalid_argument, "'" + target.path + "' is named for two parts: put the {} elsewhere");
      }
      std::error_code ignored;
      if (!std::filesystem::equivalent(target.path, table_, ignored) || ignored) continue;
      throw Error(ErrorCode::invalid_argument, "'" + target.path + "' is the table itself: name other files");
    }
  }

  void write(Session& session, const Table& table, const std::vector<Rows>& parts) {
    const std::vector<Target> targets = targets_of(parts, table.n_rows);
    require_other_files(targets);
    std::vector<std::optional<OutputFile>> files(targets.size());
    std::vector<std::optional<OutputFile>*> all;
    Json json = Json::array();
    std::string text;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      OutputFile& file = files[i].emplace(targets[i].path, session.run().cancel);
      all.push_back(&files[i]);
      write_result(file, output_.format, table.take(targets[i].rows), {}, session.run());
      json.push_back({{"path", targets[i].path}, {"rows", targets[i].rows.size()}});
      text += fmt::format("{}: {}\n", one_line(targets[i].path), counted(std::ssize(targets[i].rows), "row"));
    }
    session.json()["parts"] = json;
    commit_files(session, all);
    session.say(text + (stratified_ ? "stratified by the target\n" : ""));
  }

  std::string table_, group_, test_out_;
  OutputArguments output_;
  double holdout_ = 0;
  std::int64_t folds_ = 0;
  std::vector<double> shares_;
  bool stratified_ = false;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_split(CLI::App& program) {
  return std::make_unique<Split>(program);
}

}  // namespace stope::cli
