// The recorded runs of the real RapidMiner 5.3 (../shared/goldens/rapidminer): where they are and how to read them.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stope::goldens {

inline std::filesystem::path folder() {
  const char* shared = std::getenv("STOPE_SHARED");  // NOLINT(concurrency-mt-unsafe): no other thread runs yet
  const std::filesystem::path root =
      shared != nullptr ? std::filesystem::path(shared) : std::filesystem::path(STOPE_SOURCE_DIR) / ".." / "shared";
  return root / "goldens" / "rapidminer";
}

inline bool present() {
  return std::filesystem::exists(folder() / "MANIFEST.json");
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

/// Splits a CSV line into its fields. A quoted field may hold separators and doubled quotes, but no line break.
inline std::vector<std::string> fields(std::string_view line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += '"';
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += line[i];
    }
  }
  return out;
}

inline std::vector<std::vector<std::string>> read_records(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::vector<std::string>> records;
  for (std::string line; std::getline(in, line);) records.push_back(fields(line));
  return records;
}

inline double number(const std::string& text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) throw std::runtime_error("not a number: " + text);
  return value;
}

inline std::int64_t integer(const std::string& text) {
  return static_cast<std::int64_t>(number(text));
}

/// Turns "NumericalMeasures" into "Numerical", the prefix of stope's metric names.
inline std::string family(const std::string& measure_types) {
  static const std::map<std::string, std::string> names = {{"MixedMeasures", "Mixed"},
                                                           {"NumericalMeasures", "Numerical"},
                                                           {"NominalMeasures", "Nominal"},
                                                           {"BregmanDivergences", "Bregman"}};
  return names.at(measure_types);
}

/// Measures that need log, exp, acos or a matrix inverse are compared within kTolerance, all others to the bit.
inline bool is_exact(const std::string& measure) {
  for (const char* name : {"CosineSimilarity", "KernelEuclideanDistance", "GeneralizedIDivergence", "KLDivergence",
                           "ItakuraSaitoDistance", "LogarithmicLoss", "LogisticLoss", "MahalanobisDistance"}) {
    if (measure == name) return false;
  }
  return true;
}

inline constexpr double kTolerance = 1e-9;

inline bool identical(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline bool close(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return std::signbit(a) == std::signbit(b) && std::isinf(a) && std::isinf(b);
  return std::abs(a - b) <= kTolerance * std::fmax(1.0, std::fmax(std::abs(a), std::abs(b)));
}

/// Orders -0.0 before 0.0, and infinity before NaN.
inline bool before(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  if (a == b) return std::signbit(a) && !std::signbit(b);
  return a < b;
}

/// Training rows with their distances, in the order of the heap's array.
using Neighborhood = std::vector<std::pair<std::int64_t, double>>;

/// Returns k -> test row -> neighbourhood.
inline std::map<std::int64_t, std::map<std::int64_t, Neighborhood>> read_neighbors(const std::filesystem::path& path) {
  std::map<std::int64_t, std::map<std::int64_t, Neighborhood>> lists;
  const auto records = read_records(path);
  for (std::size_t i = 1; i < records.size(); ++i) {
    const auto& r = records[i];
    lists[integer(r[0])][integer(r[1])].emplace_back(integer(r[3]), number(r[4]));
  }
  return lists;
}

/// A predicted class with its confidences, or a predicted number alone.
struct Prediction {
  std::string value;
  std::vector<double> confidences;
};

/// Returns (k, weighted) -> predictions by test row.
inline std::map<std::pair<std::int64_t, bool>, std::vector<Prediction>> read_predictions(
    const std::filesystem::path& path) {
  std::map<std::pair<std::int64_t, bool>, std::vector<Prediction>> out;
  const auto records = read_records(path);
  for (std::size_t i = 1; i < records.size(); ++i) {
    const auto& r = records[i];
    Prediction p{r[3], {}};
    for (std::size_t c = 4; c < r.size(); ++c) p.confidences.push_back(number(r[c]));
    out[{integer(r[0]), r[1] == "true"}].push_back(std::move(p));
  }
  return out;
}

}  // namespace stope::goldens
