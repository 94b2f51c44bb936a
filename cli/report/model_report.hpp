// Describes the content of a model file, for people and for scripts.
#pragma once

#include <string>

#include "report/json.hpp"
#include "stope/model.hpp"

namespace stope::cli {

/// Kind, options, tables and columns. A long list of columns is cut unless `all` is set.
std::string model_text(const std::string& path, const ModelSummary& summary, bool all);
Json model_json(const ModelSummary& summary);

}  // namespace stope::cli
