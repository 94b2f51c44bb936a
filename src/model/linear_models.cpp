// Principal components and least squares as content: the tables that are also written as CSV, and a few options.
#include "model/kinds.hpp"

namespace stope::model {
namespace {

const std::vector<std::string_view> kMissingNames = {"error", "mean"};
const std::vector<std::string_view> kAnswers = {"no", "yes"};

std::string name_of(MissingValues missing) {
  return std::string(kMissingNames[missing == MissingValues::mean ? 1 : 0]);
}

MissingValues missing_of(const Content& content) {
  return content.choice("missing", kMissingNames) == 1 ? MissingValues::mean : MissingValues::error;
}

}  // namespace

void put_pca(const Pca& model, Content& content) {
  content.kind = kPca;
  content.set("missing", name_of(model.missing()));
  content.set("whiten", std::string(kAnswers[model.whiten() ? 1 : 0]));
  content.tables.push_back({"components", model.to_table()});
}

Pca get_pca(const Content& content) {
  PcaOptions options;
  options.missing = missing_of(content);
  options.whiten = content.choice("whiten", kAnswers) == 1;
  return Pca::from_table(content.table("components"), options);
}

void put_lsq(const LinearModel& model, Content& content) {
  content.kind = kLeastSquares;
  content.set("missing", name_of(model.missing()));
  content.tables.push_back({"coefficients", model.to_table()});
}

LinearModel get_lsq(const Content& content) {
  return LinearModel::from_table(content.table("coefficients"), missing_of(content));
}

}  // namespace stope::model
