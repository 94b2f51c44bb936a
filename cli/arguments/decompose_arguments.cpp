#include "arguments/decompose_arguments.hpp"

#include <fmt/format.h>

#include "arguments/option.hpp"
#include "stope/io.hpp"

namespace stope::cli {

void DecomposeArguments::add_to(CLI::App& app, const std::string& what) {
  OptionGroup group(app, "Attributes");
  group.choice("--impute", impute, {"none", "mean"},
               "A missing value of an attribute is an error (none) or counts as its column's mean [" + impute + "]");
  group.flag("--numeric-only", numeric_only, "Leave nominal attributes out; without it they are an error");
  group.text("--apply", apply, "FILE", "Fit nothing: apply the " + what + " of an earlier run to TABLE");
}

MissingValues DecomposeArguments::missing() const {
  return impute == "mean" ? MissingValues::mean : MissingValues::error;
}

NominalFeatures DecomposeArguments::nominal() const {
  return numeric_only ? NominalFeatures::skip : NominalFeatures::error;
}

Table read_fitted(const std::string& path, const RunOptions& run) {
  ReadOptions options;
  options.header = Header::yes;
  options.missing = {};  // an attribute may be called NA
  options.nominal = {"kind", "name"};
  options.unknown_columns = UnknownColumns::skip;  // the reader of models has a better message for other tables
  return read_table(path, options, run);
}

}  // namespace stope::cli
