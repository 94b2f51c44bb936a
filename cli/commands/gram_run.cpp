#include "commands/gram_run.hpp"

#include <fmt/format.h>

#include "report/backend_report.hpp"

namespace stope::cli {

MatrixView matrix_of(const GramFile& file) {
  return {file.values.data(), Dtype::float32, file.n_rows, file.n_columns, file.n_columns};
}

std::vector<float> multiply_gram(const GramFile& file, const RunOptions& run, GramReport& report) {
  const std::vector<double> x(file.vector.begin(), file.vector.end());
  std::vector<double> z(x.size());
  GramOperator by(matrix_of(file), {}, run);
  by.gram(x, z);
  report = by.report();
  std::vector<float> rounded(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) rounded[i] = static_cast<float>(z[i]);
  return rounded;
}

void note_gram(Session& session, const std::string& path, const GramFile& file) {
  session.json()["inputs"].push_back(
      {{"role", "matrix"}, {"path", path}, {"rows", file.n_rows}, {"columns", file.n_columns}});
}

void note_gram_plan(Session& session, const GramReport& report) {
  Json plan = backend_json(report);
  plan.update(
      {{"method", report.method}, {"threads", report.threads}, {"passes", report.passes}, {"bytes", report.bytes}});
  session.json()["plan"] = std::move(plan);
  if (!session.arguments().explain) return;
  say_backend(session, report);
  session.say(fmt::format("method    {}\nthreads   {}\n", report.method, report.threads));
}

}  // namespace stope::cli
