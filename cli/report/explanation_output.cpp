#include "report/explanation_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "arguments/knn_arguments.hpp"
#include "report/output_format.hpp"
#include "report/record_writer.hpp"
#include "report/text_table.hpp"
#include "stope/explain.hpp"

namespace stope::cli {
namespace {

constexpr std::int64_t kRowsForPeople = 5;
constexpr std::int64_t kVotesForPeople = 20;

// What explanations refer to.
struct Context {
  const Predictor& predictor;
  const Table& table;
  const NeighborsModel& model;
  const Column* label;     // of the training rows, or null
  const Column* train_id;  // where the model holds one
  const Column* id;
  std::vector<std::string> features;
  std::string whole;  // what the terms add up to; empty: there are none
  std::int64_t n_attributes;
};

Context context_of(const Predictor& predictor, const Table& table, std::int64_t n_attributes) {
  const auto& model = std::get<NeighborsModel>(last_step(predictor.model()).fitted);
  return {predictor,
          table,
          model,
          column_of(model.train, Role::label),
          column_of(model.train, Role::id),
          column_of(table, Role::id),
          explained_features(predictor.index()),
          terms_add_up_to(predictor.index()),
          n_attributes};
}

std::string prediction_text(const Context& context, const RowExplanation& explanation) {
  if (context.label == nullptr) return "";
  if (!context.label->nominal()) return format_value(explanation.number);
  return explanation.code < 0 ? "?" : context.predictor.classes()[explanation.code];
}

class Records {
 public:
  Records(OutputFile& file, const Context& context) : context_(context), out_(file) {
    out_.text("row").text("pos").text("train_index");
    if (context.train_id != nullptr) out_.text("train_id");
    if (context.label != nullptr) out_.text("prediction").text("train_label");
    out_.text("distance");
    if (context.label != nullptr) out_.text("weight").text("vote_share");
    if (shows_attributes()) out_.text("attribute").text("term").text("attribute_share");
    if (context.id != nullptr) out_.text(context.id->name);
    out_.end_row();
  }

  void add(const RowExplanation& explanation) {
    for (std::int64_t i = 0; i < std::ssize(explanation.votes); ++i) {
      if (!shows_attributes()) {
        vote(explanation, i);
        end();
        continue;
      }
      std::vector<AttributeShare> shares;
      if (!explanation.terms.empty()) shares = attribute_shares(explanation, i);
      if (std::ssize(shares) > context_.n_attributes) shares.resize(static_cast<std::size_t>(context_.n_attributes));
      for (const AttributeShare& share : shares) {
        vote(explanation, i);
        out_.text(context_.features[static_cast<std::size_t>(share.feature)]).number(share.term).number(share.share);
        end();
      }
      if (!shares.empty()) continue;  // a neighbour at distance 0, or without a distance, has no shares
      vote(explanation, i);
      out_.empty().empty().empty();
      end();
    }
  }
  void finish() { out_.finish(); }

 private:
  bool shows_attributes() const { return context_.n_attributes > 0 && !context_.whole.empty(); }

  void vote(const RowExplanation& explanation, std::int64_t i) {
    const NeighborVote& one = explanation.votes[static_cast<std::size_t>(i)];
    row_ = explanation.row;
    out_.integer(explanation.row).integer(i).integer(one.train_index);
    if (context_.train_id != nullptr) out_.cell(*context_.train_id, one.train_index);
    if (context_.label != nullptr) {
      context_.label->nominal() ? out_.text(prediction_text(context_, explanation)) : out_.number(explanation.number);
      out_.cell(*context_.label, one.train_index);
    }
    out_.number(one.distance);
    if (context_.label != nullptr) out_.number(one.weight).number(one.share);
  }
  void end() {
    if (context_.id != nullptr) out_.cell(*context_.id, row_);
    out_.end_row();
  }

  const Context& context_;
  RecordWriter out_;
  std::int64_t row_ = 0;
};

std::string percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.3g} %", 100.0 * share);
}

std::string attributes_text(const Context& context, const RowExplanation& explanation, std::int64_t vote) {
  std::string text;
  if (explanation.terms.empty()) return text;
  std::int64_t shown = 0;
  for (const AttributeShare& share : attribute_shares(explanation, vote)) {
    if (shown++ == context.n_attributes || share.term == 0.0) break;
    text += (text.empty() ? "" : ", ") + one_line(context.features[static_cast<std::size_t>(share.feature)]) + " " +
            percent(share.share);
  }
  return text;
}

std::string cell_text(const Column& column, std::int64_t row) {
  if (column.missing(row)) return "?";
  return column.nominal() ? one_line(column.values[column.codes()[row]]) : value_text(column.type, column.at(row));
}

std::string row_text(const Context& context, const RowExplanation& explanation) {
  std::string text = fmt::format("row {}", explanation.row);
  if (context.id != nullptr) text += " (" + cell_text(*context.id, explanation.row) + ")";
  if (context.label != nullptr) text += ": " + one_line(prediction_text(context, explanation));
  TextTable table({Align::right, Align::left, Align::right, Align::right, Align::left});
  table.row({"train row", context.label == nullptr ? "" : one_line(context.label->name), "distance",
             context.label == nullptr ? "" : "vote", context.whole.empty() ? "" : "apart in"});
  const std::int64_t n = std::ssize(explanation.votes), shown = std::min(n, kVotesForPeople);
  for (std::int64_t i = 0; i < shown; ++i) {
    const NeighborVote& vote = explanation.votes[static_cast<std::size_t>(i)];
    std::string train = std::to_string(vote.train_index);
    if (context.train_id != nullptr) train += " (" + cell_text(*context.train_id, vote.train_index) + ")";
    table.row({train, context.label == nullptr ? "" : cell_text(*context.label, vote.train_index),
               format_value(vote.distance), context.label == nullptr ? "" : percent(vote.share),
               attributes_text(context, explanation, i)});
  }
  text += "\n" + table.text(2);
  if (shown < n) text += fmt::format("  ... and {}\n", counted(n - shown, "more neighbour"));
  return text + "\n";
}

void write_for_people(Session& session, OutputFile& file, const Predictor& predictor, const Table& table,
                      std::int64_t n_attributes) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(std::min(table.n_rows, kRowsForPeople)));
  std::iota(first.begin(), first.end(), std::int64_t{0});
  const Table rows = table.take(first);
  const Context context = context_of(predictor, rows, n_attributes);
  std::string text;
  predictor.explain(rows, session.run(),
                    [&](const RowExplanation& explanation) { text += row_text(context, explanation); });
  if (table.n_rows > rows.n_rows) {
    text +=
        fmt::format("the first {} of {}; --explain-out FILE.csv has all\n", rows.n_rows, counted(table.n_rows, "row"));
  }
  file.write(text);
}

}  // namespace

void write_explanations(Session& session, OutputFile& file, const Predictor& predictor, const Table& table,
                        std::int64_t n_attributes) {
  const Context context = context_of(predictor, table, n_attributes);
  if (context.whole.empty() && n_attributes > 0) {
    session.say(fmt::format("{}: its distance does not come apart into attributes, so none are told\n",
                            context.model.options.metric.name));
  }
  if (is_stdout(file.path()) || suffix_of(file.path()) == ".txt") {
    write_for_people(session, file, predictor, table, n_attributes);
    return;
  }
  Records records(file, context);
  predictor.explain(table, session.run(), [&](const RowExplanation& explanation) {
    records.add(explanation);
    tell_written(session.run(), explanation.row, table.n_rows);
  });
  records.finish();
}

std::string linear_reason(const LinearModel& model, std::span<const double> contributions) {
  constexpr std::size_t kShown = 8;
  std::vector<std::size_t> order(contributions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::fabs(contributions[a]) > std::fabs(contributions[b]);
  });
  std::string text = format_value(model.intercept());
  const auto add = [&](double value, const std::string& what) {
    text += fmt::format(" {} {} ({})", value < 0 ? "-" : "+", format_value(std::fabs(value)), what);
  };
  double others = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i < kShown) {
      add(contributions[order[i]], model.feature_names()[order[i]]);
    } else {
      others += contributions[order[i]];
    }
  }
  if (order.size() > kShown) add(others, counted(std::ssize(order) - static_cast<std::ptrdiff_t>(kShown), "other"));
  return text;
}

}  // namespace stope::cli
