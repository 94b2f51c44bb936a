// Results of jobs as tables. Names of columns are those of the core's structures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "stope/discretize.hpp"
#include "stope/knn_pairwise.hpp"
#include "stope/stats.hpp"
#include "stope/table.hpp"

namespace stope::jobs {

/// A column of texts that grows row by row. Its values are in the order in which they appear.
class TextColumn {
 public:
  void add(const std::string& text);
  void add_missing() { codes_.push_back(kMissingCode); }
  Column column(std::string name) &&;

 private:
  std::vector<std::string> values_;
  std::unordered_map<std::string, std::int32_t> code_of_;
  std::vector<std::int32_t> codes_;
};

Table statistics_table(const Statistics& statistics, const Table& table);
Table histogram_table(const Statistics& statistics);
Table value_counts_table(const Statistics& statistics);
/// The columns p_value, family_p_value and q_value are there if the cuts were tested.
Table best_cuts_table(const BestCuts& found);
Table cuts_table(const CutSet& cuts);
Table ranges_table(const FeatureRanges& ranges);
Table pairs_table(const std::vector<CrossDistance>& pairs);
/// "row", "pos", "train_index", "distance".
Table neighbors_table(const Neighbors& lists);

}  // namespace stope::jobs
