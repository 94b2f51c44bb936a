// Imputer: the public calls (stope/impute.hpp).
#include "stope/impute.hpp"

#include "base/guarded.hpp"
#include "base/report.hpp"
#include "impute/apply.hpp"
#include "impute/fitted.hpp"
#include "stope/error.hpp"

namespace stope {

Imputer Imputer::fit(const Table& train, const ImputeOptions& options, const RunOptions& run) try {
  const JobTime time(run);
  Imputer imputer;
  imputer.fitted_ = std::make_shared<const impute::Fitted>(train, options, run);
  time.hand("impute", run.threads > 0 ? run.threads : available_threads());
  return imputer;
} catch (...) {
  rethrow_as_error();
}

const impute::Fitted& Imputer::fitted() const try {
  if (fitted_ == nullptr) throw Error(ErrorCode::invalid_argument, "the imputer has not been fitted");
  return *fitted_;
} catch (...) {
  rethrow_as_error();
}

Table Imputer::apply(const Table& table, const RunOptions& run, ImputeReport* report, const FilledSink& filled) const
    try {
  ImputeReport done;
  Table result = impute::fill(fitted(), table, run, filled, done);
  if (report != nullptr) *report = done;
  hand_report(run, "impute", done);
  return result;
} catch (...) {
  rethrow_as_error();
}

const ImputeOptions& Imputer::options() const try { return fitted().options(); } catch (...) {
  rethrow_as_error();
}
const Table& Imputer::train() const try { return fitted().train(); } catch (...) {
  rethrow_as_error();
}
const std::vector<std::string>& Imputer::columns() const try { return fitted().names(); } catch (...) {
  rethrow_as_error();
}

}  // namespace stope
