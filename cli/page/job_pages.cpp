#include "page/job_pages.hpp"

#include <algorithm>
#include <filesystem>

#include "page/bars.hpp"
#include "page/command_line.hpp"
#include "page/document.hpp"
#include "page/parts/columns.hpp"
#include "page/parts/confusion.hpp"
#include "page/parts/scores.hpp"
#include "page/report_page.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

// A page without sections yet; the last one, how it was made, comes with page_text().
Document document_of(const JobPage& job, const std::string& what, const Table& table) {
  const std::string name = job.path == "-" ? "standard input" : std::filesystem::path(job.path).filename().string();
  Document document;
  document.title = what + " of " + in_quotes(name);
  document.subtitle = grouped(table.n_rows, "row") + ", " + grouped(std::ssize(table.columns), "column");
  document.made_by = made_by();
  return document;
}

std::string page_text(Document& document, const JobPage& job) {
  document.sections.push_back({"making", "About this page", [&job](Markup& out) {
                                 out.element("pre", {{"tabindex", 0}}, [&] { out.element("code", job.command); });
                               }});
  return document_text(document);
}

const Column* label_of(const Table& table) {
  const std::int64_t at = table.find(Role::label);
  return at < 0 ? nullptr : &table.columns[static_cast<std::size_t>(at)];
}

ClassList classes_of(const Column* label, std::int64_t n_rows) {
  if (label == nullptr || !label->nominal()) return no_classes(n_rows);
  ClassList classes = class_list(*label);
  return classes.empty() ? no_classes(n_rows) : classes;
}

}  // namespace

std::string evaluation_page(const JobPage& job, const Evaluation& evaluation, const EvaluateOptions& options,
                            const Table& table) {
  Document document = document_of(job, "Nearest neighbours", table);
  NeighborsFound found;
  found.evaluation = evaluation;
  found.options = options;
  found.rows = "all " + grouped(table.n_rows, "row");
  compare_with(found, *label_of(table));
  document.sections.push_back({"neighbours", "Nearest neighbours", [&](Markup& out) { write_neighbors(out, found); }});
  const EvaluationOfK& best = evaluation.of_k[evaluation.best];
  const std::string k = "k = " + std::to_string(best.k);
  if (evaluation.label_is_nominal) {
    document.sections.push_back({"confusions", "Confusions of " + k, [&](Markup& out) {
                                   write_scores(out, best.repeats, options.confidences);
                                   write_confusion(out, best.classification, "confusion", "The vote with " + k);
                                 }});
  }
  return page_text(document, job);
}

std::string tree_scores_page(const JobPage& job, const TreeEvaluation& evaluation, Confidences confidences,
                             const Table& table, const std::string& scheme) {
  Document document = document_of(job, "Decision trees", table);
  document.sections.push_back({"confusions", "Confusions", [&](Markup& out) {
                                 write_scores(out, evaluation.repeats, confidences);
                                 write_confusion(out, evaluation.scores, "confusion", "The " + scheme + " of trees");
                               }});
  return page_text(document, job);
}

std::string lsq_scores_page(const JobPage& job, const LsqEvaluation& evaluation, const Table& table,
                            const std::string& scheme) {
  Document document = document_of(job, "Least squares", table);
  const RegressionScores& all = evaluation.scores;
  DataTable numbers{"Error (RMSE) of each fold", {"fold", "RMSE"}, {Cell::text, Cell::number}, {}};
  std::vector<Bar> bars;
  constexpr std::size_t kMostFolds = 200;
  for (std::size_t i = 0; i < std::min(kMostFolds, evaluation.fold_scores.size()); ++i) {
    const std::string fold = "fold " + std::to_string(i + 1), rmse = number(evaluation.fold_scores[i]);
    numbers.rows.push_back({fold, rmse});
    bars.push_back({fold, evaluation.fold_scores[i], kNoNumber, kNoNumber, rmse});
  }
  document.sections.push_back(
      {"scores", "Scores", [&](Markup& out) {
         const std::string message =
             "The error (RMSE) is " + number(all.rmse) + " on rows that took no part in the fit (" + scheme +
             "). The mean absolute error is " + number(all.mae) + ", R² is " + number(all.r2) + ".";
         out.element("p", message);
         if (bars.empty()) return;
         write_bars(out, {"folds", "Errors of the folds", message, "Error (RMSE) of each fold.", {}, Narrow::scroll},
                    bars, numbers);
       }});
  return page_text(document, job);
}

std::string tree_page(const JobPage& job, const DecisionTree& tree, const Table& table,
                      const std::optional<TreeEvaluation>& scores, const std::string& scheme) {
  Document document = document_of(job, "Decision tree", table);
  TreeFound found;
  found.tree = tree;
  found.scores = scores;
  found.scheme = scheme;
  const ClassList classes = classes_of(label_of(table), table.n_rows);
  document.sections.push_back({"tree", "Decision tree", [&](Markup& out) { write_tree(out, found, classes); }});
  if (scores) {
    document.sections.push_back({"confusions", "Confusions", [&](Markup& out) {
                                   write_confusion(out, scores->scores, "confusion", "The " + scheme);
                                 }});
  }
  return page_text(document, job);
}

std::string statistics_page(const JobPage& job, const Table& table, const Statistics& statistics, const std::string& by,
                            const RunOptions& run) {
  Document document = document_of(job, "Statistics", table);
  Subject subject;
  subject.name = document.title;
  subject.table = table;
  subject.statistics = statistics;
  subject.label = by.empty() ? -1 : table.find(by);
  subject.classes = classes_of(subject.label_column(), table.n_rows);
  document.sections.push_back(
      {"columns", "Columns", [&](Markup& out) { write_columns(out, subject, plain_view(subject), run); }});
  return page_text(document, job);
}

std::string components_page(const JobPage& job, const Pca& pca, const Table& table, const Table* scores) {
  Document document = document_of(job, "Principal components", table);
  const Column* label = label_of(table);
  const ClassList classes = classes_of(label, table.n_rows);
  ComponentsFound found;
  found.pca = pca;
  found.rows = "all " + grouped(table.n_rows, "row");
  if (scores != nullptr) take_points(found, *scores, label, classes);
  document.sections.push_back(
      {"pca", "Principal components", [&](Markup& out) { write_components(out, found, classes); }});
  return page_text(document, job);
}

}  // namespace stope::cli::page
