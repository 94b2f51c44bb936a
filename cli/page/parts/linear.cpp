#include "page/parts/linear.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "page/bars.hpp"
#include "page/command_line.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::size_t kMostBars = 20;
constexpr std::size_t kMostListed = 500;
constexpr double kZ = 1.959963984540054;

// The features by the size of their effects: coefficient times deviation.
std::vector<std::size_t> by_effect(const LinearFound& found) {
  std::vector<std::size_t> order(found.model.coefficients().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto effect = [&](std::size_t i) { return std::fabs(found.model.coefficients()[i] * found.deviations[i]); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return effect(a) > effect(b); });
  return order;
}

DataTable numbers_of(const LinearFound& found, const std::vector<std::size_t>& order) {
  const bool errors = !found.model.standard_errors().empty();
  DataTable table{"Coefficients", {"column", "coefficient", "effect"}, {Cell::text, Cell::number, Cell::number}, {}};
  if (errors) {
    table.heads.emplace_back("standard error");
    table.heads.emplace_back("t");
    table.cells.insert(table.cells.end(), 2, Cell::number);
  }
  table.rows.push_back({"intercept", number(found.model.intercept()), number(kNoNumber)});
  if (errors) {
    table.rows.back().push_back(number(found.model.intercept_standard_error()));
    table.rows.back().push_back(number(found.model.intercept() / found.model.intercept_standard_error()));
  }
  for (std::size_t i = 0; i < std::min(kMostListed, order.size()); ++i) {
    const double coefficient = found.model.coefficients()[order[i]];
    table.rows.push_back({as_name(found.model.feature_names()[order[i]]), number(coefficient),
                          number(coefficient * found.deviations[order[i]])});
    if (!errors) continue;
    const double error = found.model.standard_errors()[order[i]];
    table.rows.back().push_back(number(error));
    table.rows.back().push_back(number(coefficient / error));
  }
  return table;
}

}  // namespace

void write_linear(Markup& out, const LinearFound& found) {
  const std::vector<std::size_t> order = by_effect(found);
  const std::string message = "A linear model of " + grouped(std::ssize(order), "numeric column") + " explains " +
                              percent(found.model.r2()) + " of the variance of " + in_quotes(found.label) +
                              " in the rows it was fitted to.";
  out.element("p", message);
  out.element("p", {{"class", "soft small"}}, "Fitted to " + found.rows + ". " + found.method);
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min(kMostBars, order.size()); ++i) {
    const std::size_t feature = order[i];
    const double deviation = found.deviations[feature], effect = found.model.coefficients()[feature] * deviation;
    const double error =
        found.model.standard_errors().empty() ? kNoNumber : found.model.standard_errors()[feature] * deviation * kZ;
    bars.push_back({found.model.feature_names()[feature], effect, effect - error, effect + error, number(effect)});
  }
  std::string caption = "How much the prediction changes when a column grows by one standard deviation.";
  if (!found.model.standard_errors().empty()) caption += " The whiskers are 95 % intervals.";
  if (bars.size() < order.size()) {
    caption += " The largest " + std::to_string(bars.size()) + " of " + grouped(std::ssize(order)) + ".";
  }
  write_bars(out, {"linear", "Least squares", message, caption, {}, Narrow::scroll}, bars, numbers_of(found, order));
  write_command(out, found.command);
}

}  // namespace stope::cli::page
