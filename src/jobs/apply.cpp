// Models applied: what they say of the rows of a table, as a table.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jobs/explanations.hpp"
#include "jobs/job_options.hpp"
#include "jobs/label.hpp"
#include "jobs/result_tables.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"

namespace stope::jobs {
namespace {

// The table of one label's predictions: "prediction" has the label's own type.
Table predictions(const Classification& classes, const Column* label, bool proba) {
  Table table;
  table.n_rows = std::ssize(classes.codes);
  const ValueType type = label != nullptr && label->nominal() ? label->type : ValueType::nominal;
  table.columns.push_back(make_nominal("prediction", classes.codes, classes.classes, type));
  const auto n_classes = static_cast<std::int64_t>(classes.classes.size());
  for (std::int64_t c = 0; proba && c < n_classes; ++c) {
    Buffer<double> column(table.n_rows);
    const double* confidence = classes.confidences.data() + c;
    for (std::int64_t row = 0; row < table.n_rows; ++row) column[row] = confidence[row * n_classes];
    table.columns.push_back(column_of("confidence(" + classes.classes[c] + ")", std::move(column)));
  }
  return table;
}

Table classified(const Predictor& predictor, const Table& rows, bool proba, const RunOptions& run) {
  const Column* const label = label_of(predictor.model().columns);
  if (proba) return predictions(predictor.classify(rows, run), label, true);
  Classification all;
  all.classes = predictor.classes();
  all.codes.resize(static_cast<std::size_t>(rows.n_rows));
  predictor.classify(
      rows, run,
      [&](std::int64_t first, const Classification& block) {
        std::copy(block.codes.begin(), block.codes.end(), all.codes.begin() + first);
      },
      Confidences::none);
  return predictions(all, label, false);
}

Table numbers(const std::vector<double>& values) {
  Table table;
  table.n_rows = std::ssize(values);
  table.columns.push_back(make_numeric("prediction", values));
  return table;
}

Table apply(const Predictor& predictor, const Table& rows, const ApplyJob& job, const RunOptions& run) {
  if (job.n_neighbors || !job.weights.empty()) {
    const VoteWeights given = job.weights.empty() ? VoteWeights::uniform : vote_weights(job.weights);
    const auto* const knn = std::get_if<NeighborsModel>(&predictor.model().fitted);
    ApplyJob rest = job;
    rest.n_neighbors.reset();
    rest.weights.clear();
    const std::int64_t k = job.n_neighbors.value_or(knn == nullptr ? 1 : knn->n_neighbors);
    const VoteWeights weights = job.weights.empty() && knn != nullptr ? knn->weights : given;
    return apply(predictor.with_vote(k, weights), rows, rest, run);
  }
  if (job.proba && predictor.gives() != Predictor::Gives::classes) {
    throw Error(ErrorCode::invalid_argument,
                "the model (" + std::string(predictor.model().kind()) + ") gives no classes, and so no confidences",
                {.option = "proba"});
  }
  if (job.explain) return explanations(predictor, rows, job.explain_attributes, run);
  switch (predictor.gives()) {
    case Predictor::Gives::classes: return classified(predictor, rows, job.proba, run);
    case Predictor::Gives::numbers: return numbers(predictor.regress(rows, run));
    case Predictor::Gives::neighbors: return neighbors_table(predictor.neighbors(rows, run));
    case Predictor::Gives::table: break;
  }
  return predictor.transform(rows, run);
}

}  // namespace
}  // namespace stope::jobs

stope::Table stope::apply_model(const Predictor& model, const Table& rows, const NamedOptions& options,
                                const RunOptions& run) {
  return jobs::apply(model, rows, jobs::read_options<jobs::ApplyJob>(options, "apply"), run);
}

stope::Table stope::model_neighbors(const Predictor& model, const Table& rows, std::int64_t n_neighbors,
                                    const NamedOptions& options, const RunOptions& run) {
  SearchOptions search = jobs::read_options<jobs::NeighborsJob>(options, "a search").search;
  search.n_neighbors = n_neighbors;
  const KnnIndex& index = model.index();
  return jobs::neighbors_table(index.kneighbors(model.normalized(rows, run), search, run));
}
