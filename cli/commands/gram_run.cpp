#include "commands/gram_run.hpp"

#include <fmt/format.h>

namespace stope::cli {

std::vector<float> multiply_gram(const GramFile& file, const RunOptions& run, GramReport& report) {
  const std::vector<double> x(file.vector.begin(), file.vector.end());
  std::vector<double> z(x.size());
  GramOperator by(file.matrix(), {}, run);
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

}  // namespace stope::cli
