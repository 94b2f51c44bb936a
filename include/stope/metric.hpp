// Metrics by name: which exist, which attributes they accept, and how to ask for one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace stope {

/// A distance, by name, with its parameters. metrics() below lists the names. RapidMiner's names work too, bare
/// ("CamberraDistance") or with the family ("Nominal.DiceSimilarity").
struct Metric {
  std::string name = "mixed-euclidean";
  std::map<std::string, std::string> params = {};  ///< e.g. {"p", "3"}, {"kernel_gamma", "0.5"}
};

/// Which attributes a metric can take.
enum class Accepts { mixed, numeric, nominal };
std::string_view to_string(Accepts accepts) noexcept;

/// One row of the table of measures.
struct MetricInfo {
  std::string_view name;        ///< stope's name
  std::string_view family;      ///< RapidMiner's family: Mixed, Numerical, Nominal, Bregman; empty = not RapidMiner's
  std::string_view rapidminer;  ///< RapidMiner's name; empty = none
  std::string_view aliases;     ///< further names, separated by blanks
  Accepts accepts;
  std::string_view params;   ///< the parameters it takes, separated by blanks
  std::string_view summary;  ///< the formula in one line
  /// Whether normalising is pointless: multiplying an attribute by a positive number, in all rows, changes no distance,
  /// or (haversine) the measure prescribes the units.
  bool scales_itself = false;
  bool allows_missing = true;  ///< false: the distance is NaN where an attribute is missing in one of the two rows
  bool symmetric = true;       ///< whether the distance of x from y has the bits of that of y from x
};

/// Every measure, in the order of docs/numerics/measures.md.
const std::vector<MetricInfo>& metrics();

/// The row that a name stands for. Throws invalid_argument for an unknown name (naming the nearest one) and for a bare
/// RapidMiner name that two families share.
const MetricInfo& find_metric(std::string_view name);

}  // namespace stope
#pragma GCC visibility pop
