// Principal components and least squares as content: the tables that are also written as CSV, a few options, and what
// the fit knew of its rows. Files without the latter are read, too.
#include <limits>

#include "model/kinds.hpp"

namespace stope::model {
namespace {

const std::vector<std::string> kAnswers = {"no", "yes"};

std::int64_t count_of(const Content& content, std::string_view name, std::int64_t least) {
  if (content.find(name) == nullptr) return least;
  return content.integer(name, least, std::numeric_limits<std::int64_t>::max());
}

}  // namespace

void put_pca(const Pca& model, Content& content) {
  content.kind = kPca;
  content.set("missing", model.missing());
  content.set("whiten", kAnswers[model.whiten() ? 1 : 0]);
  content.set("rows", model.report().n_samples);
  content.tables.push_back({"components", model.to_table()});
}

Pca get_pca(const Content& content) {
  PcaOptions options;
  options.missing = content.choice<MissingValues>("missing");
  options.whiten = content.choice("whiten", kAnswers) == 1;
  return Pca::from_table(content.table("components"), options, count_of(content, "rows", 0));
}

void put_lsq(const LinearModel& model, Content& content) {
  content.kind = kLeastSquares;
  content.set("missing", model.missing());
  content.set("rows", model.report().n_samples);
  content.set("rank", model.rank());
  content.set("residual_sum_of_squares", model.residual_sum_of_squares());
  content.set("r2", model.r2());
  content.tables.push_back({"coefficients", model.to_table()});
}

LinearModel get_lsq(const Content& content) {
  LinearFit fit;
  fit.n_samples = count_of(content, "rows", 0);
  fit.rank = count_of(content, "rank", -1);
  if (content.find("residual_sum_of_squares") != nullptr) {
    fit.residual_sum_of_squares = content.real("residual_sum_of_squares");
  }
  if (content.find("r2") != nullptr) fit.r2 = content.real("r2");
  return LinearModel::from_table(content.table("coefficients"), content.choice<MissingValues>("missing"), fit);
}

}  // namespace stope::model
