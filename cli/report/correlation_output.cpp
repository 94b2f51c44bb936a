#include "report/correlation_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "report/output_format.hpp"
#include "report/record_writer.hpp"
#include "report/statistics_output.hpp"
#include "report/text_table.hpp"

namespace stope::cli {
namespace {

struct Pair {
  std::int64_t i, j;
};

// Calls visit(i, j) for every pair of columns once, those of the label first.
template <class Visit>
void each_pair(const Correlation& correlation, const Visit& visit) {
  const std::int64_t n = correlation.size(), target = correlation.target;
  for (std::int64_t j = 0; j < n && target >= 0; ++j) {
    if (j != target) visit(target, j);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i + 1; j < n; ++j) {
      if (i != target && j != target) visit(i, j);
    }
  }
}

const std::string& name(const Correlation& correlation, std::int64_t i) {
  return correlation.names[static_cast<std::size_t>(i)];
}

// The strongest pairs first, those without a correlation last; at most `most` are kept.
void keep_strongest(const Correlation& correlation, std::vector<Pair>& pairs, std::size_t most) {
  const auto strength = [&](const Pair& pair) {
    const double r = std::fabs(correlation.at(pair.i, pair.j));
    return std::isnan(r) ? -1.0 : r;
  };
  const auto stronger = [&](const Pair& a, const Pair& b) {
    const double x = strength(a), y = strength(b);
    return x != y ? x > y : std::pair(a.i, a.j) < std::pair(b.i, b.j);
  };
  const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(std::min(most, pairs.size()));
  std::partial_sort(pairs.begin(), end, pairs.end(), stronger);
  pairs.erase(end, pairs.end());
}

std::string value_of(double r) {
  return std::isnan(r) ? "-" : fmt::format("{:.4f}", r);
}

std::string text_of(const Correlation& correlation, const std::string& table_name, CorrelationMethod method, bool all) {
  constexpr std::size_t kStrongest = 20;
  const std::int64_t n = correlation.size(), target = correlation.target;
  std::string text =
      fmt::format("{}: {} correlation of {}\n", table_name,
                  method == CorrelationMethod::pearson ? "Pearson's" : "Spearman's", counted(n, "numeric column"));
  std::vector<Pair> with_target, others;
  each_pair(correlation, [&](std::int64_t i, std::int64_t j) {
    if (i == target) {
      with_target.push_back({i, j});
    } else {
      others.push_back({i, j});
      // Many columns need no list of all their pairs.
      if (!all && others.size() > 100 * kStrongest) keep_strongest(correlation, others, kStrongest);
    }
  });
  const auto lines = [&](const std::vector<Pair>& pairs, bool names_both) {
    TextTable table({Align::left, Align::left, Align::right, Align::right});
    for (const Pair& pair : pairs) {
      const std::string other = one_line(name(correlation, pair.j));
      table.row({names_both ? one_line(name(correlation, pair.i)) : other, names_both ? other : "",
                 value_of(correlation.at(pair.i, pair.j)),
                 correlation.count(pair.i, pair.j) == correlation.count(pair.i, pair.i)
                     ? ""
                     : counted(correlation.count(pair.i, pair.j), "row")});
    }
    return table.text(2);
  };
  if (target >= 0) {
    const std::size_t n_pairs = with_target.size();
    keep_strongest(correlation, with_target, all ? n_pairs : kMostShown);
    text += fmt::format("\nwith '{}'\n", one_line(name(correlation, target))) + lines(with_target, false);
    if (with_target.size() < n_pairs) {
      text += fmt::format("... and {} more columns (--all)\n", n_pairs - with_target.size());
    }
  }
  if (others.empty()) return text;
  const auto n_pairs = static_cast<std::size_t>((n - (target >= 0 ? 1 : 0)) * (n - (target >= 0 ? 2 : 1)) / 2);
  keep_strongest(correlation, others, all ? others.size() : kStrongest);
  text += (target >= 0 ? "\nthe strongest among the others\n" : "\nthe strongest\n") + lines(others, true);
  if (others.size() < n_pairs) text += fmt::format("... and {} more pairs (--all)\n", n_pairs - others.size());
  return text;
}

void write_pairs(OutputFile& file, const std::string& format, const Correlation& correlation, const RunOptions& run) {
  RecordWriter records(file, format);
  for (const char* field : {"column", "other", "correlation", "rows"}) records.text(field);
  records.end_row();
  const std::int64_t n_pairs = correlation.size() * (correlation.size() - 1) / 2;
  std::int64_t row = 0;
  each_pair(correlation, [&](std::int64_t i, std::int64_t j) {
    records.text(name(correlation, i)).text(name(correlation, j));
    const double r = correlation.at(i, j);
    std::isnan(r) ? records.empty() : records.number(r);
    records.integer(correlation.count(i, j));
    records.end_row();
    tell_written(run, row++, n_pairs);
  });
  records.finish();
}

}  // namespace

bool CorrelationOutput::takes_stdout() const {
  return wanted() && is_stdout(path);
}

void CorrelationOutput::open(Session& session) {
  if (!wanted()) return;
  if (takes_stdout() && session.arguments().json) return;  // the object has the matrix
  file.emplace(path, session.run().cancel);
}

void CorrelationOutput::write(Session& session, const std::string& table_name, const Table& table, bool all) {
  if (!wanted()) return;
  const auto found = session.timed(
      "correlation", [&] { return std::make_shared<const Correlation>(correlation(table, options, session.run())); });
  Json& json = session.json()["correlation"];
  json["method"] = std::string(to_string(options.method));
  json["names"] = found->names;
  json["target"] = found->target < 0 ? Json(nullptr) : Json(name(*found, found->target));
  json["values"] = session.long_array(found->size(), [found](std::int64_t i) {
    Json row = Json::array();
    for (std::int64_t j = 0; j < found->size(); ++j) row.push_back(found->at(i, j));
    return row;
  });
  json["rows"] = session.long_array(found->size(), [found](std::int64_t i) {
    Json row = Json::array();
    for (std::int64_t j = 0; j < found->size(); ++j) row.push_back(found->count(i, j));
    return row;
  });
  if (!file) return;
  const std::string format = format_word("", path);
  if (format == "txt" || (format.empty() && takes_stdout())) {
    file->write(text_of(*found, table_name, options.method, all));
  } else {
    session.timed("write", [&] { write_pairs(*file, format.empty() ? "csv" : format, *found, session.run()); });
  }
}

}  // namespace stope::cli
