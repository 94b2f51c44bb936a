#include "knn/measure/table.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/guarded.hpp"
#include "knn/measure/fit.hpp"
#include "knn/measure/measures.hpp"
#include "knn/measure/typed_kernel.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::knn {
namespace {

template <class M>
std::unique_ptr<MeasureKernel> plain(const MeasureContext& context) {
  return make_kernel<M>(context);
}

constexpr auto kMixed = Accepts::mixed;
constexpr auto kNumeric = Accepts::numeric;
constexpr auto kNominal = Accepts::nominal;
constexpr const char* kKernelParams =
    "kernel_type kernel_gamma kernel_sigma1 kernel_sigma2 kernel_sigma3 kernel_degree kernel_shift kernel_a kernel_b";

// What MetricInfo says of a measure beside its formula; the other values are the defaults.
constexpr bool kScalesItself = true, kUnitsMatter = false, kNothingMissing = false, kOneWay = false;

// {name, RapidMiner's family, RapidMiner's name, aliases, accepts, parameters, formula, what is special}, domain,
// attributes, weights, maker. The order follows docs/numerics/measures.md.
const std::vector<MeasureRow>& rows() {
  static const std::vector<MeasureRow> table = {
      {.info = {"mixed-euclidean", "Mixed", "MixedEuclideanDistance", "mixed_euclidean", kMixed, "",
                "sqrt(sum of (x-y)^2, or of x!=y where nominal)"},
       .raw_codes = true,
       .make = plain<MixedEuclidean>},
      {.info = {"gower", "", "", "", kMixed, "", "mean of |x-y|/range, or of x!=y where nominal", kScalesItself},
       .make = plain<Gower>},
      {.info = {"heom", "", "", "", kMixed, "", "sqrt(sum of squares of |x-y|/range or x!=y; missing counts as 1)",
                kScalesItself},
       .make = plain<Heom>},
      {.info = {"hamming", "", "", "", kMixed, "", "share of attributes with x!=y", kScalesItself},
       .make = plain<Hamming>},
      {.info = {"euclidean", "Numerical", "EuclideanDistance", "l2", kNumeric, "", "sqrt(sum (x-y)^2)"},
       .make = plain<Euclidean>},
      {.info = {"sqeuclidean", "Bregman", "SquaredEuclideanDistance", "", kNumeric, "", "sum (x-y)^2"},
       .make = plain<SquaredEuclidean>},
      {.info = {"nan-euclidean", "", "", "nan_euclidean", kMixed, "",
                "sqrt(n/compared * sum of (x-y)^2, or of x!=y where nominal)"},
       .make = make_nan_euclidean},
      {.info = {"manhattan", "Numerical", "ManhattanDistance", "cityblock l1", kNumeric, "", "sum |x-y|"},
       .make = plain<Manhattan>},
      {.info = {"chebyshev", "Numerical", "ChebychevDistance", "infinity", kNumeric, "", "max |x-y|"},
       .make = plain<Chebyshev>},
      {.info = {"minkowski", "", "", "", kNumeric, "p", "(sum |x-y|^p)^(1/p), p = 2"}, .make = make_minkowski},
      {.info = {"canberra", "", "", "", kNumeric, "", "sum |x-y|/(|x|+|y|), 0/0 = 0", kScalesItself},
       .make = plain<Canberra>},
      {.info = {"camberra", "Numerical", "CamberraDistance", "", kNumeric, "", "sum |x-y|/|x+y|", kScalesItself},
       .make = plain<RapidMinerCanberra>},
      {.info = {"braycurtis", "", "", "", kNumeric, "", "sum |x-y| / (sum |x| + sum |y|)"}, .make = plain<BrayCurtis>},
      {.info = {"cosine", "", "", "", kNumeric, "", "1 - sum xy / (|x||y|)"}, .make = plain<Cosine>},
      {.info = {"cosine-similarity", "Numerical", "CosineSimilarity", "angle", kNumeric, "", "acos(sum xy / (|x||y|))"},
       .make = make_cosine_angle},
      {.info = {"correlation", "", "", "", kNumeric, "", "1 - Pearson's r of the two rows", kUnitsMatter,
                kNothingMissing},
       .make = plain<Correlation>},
      {.info = {"correlation-similarity", "Numerical", "CorrelationSimilarity", "", kNumeric, "",
                "-Pearson's r of the two rows", kUnitsMatter, kNothingMissing},
       .make = plain<CorrelationSimilarity>},
      {.info = {"jaccard", "", "", "", kNumeric, "", "unequal / non-zero in either, values as booleans", kScalesItself},
       .make = plain<Jaccard>},
      {.info = {"dice", "", "", "", kNumeric, "", "unequal / (2 both + unequal), values as booleans", kScalesItself},
       .make = plain<Dice>},
      {.info = {"dice-similarity", "Numerical", "DiceSimilarity", "", kNumeric, "", "-2 sum xy / (sum x + sum y)"},
       .make = plain<DiceSimilarity>},
      {.info = {"jaccard-similarity", "Numerical", "JaccardSimilarity", "", kNumeric, "",
                "-sum xy / (sum x + sum y - sum xy)"},
       .make = plain<JaccardSimilarity>},
      {.info = {"overlap-similarity", "Numerical", "OverlapSimilarity", "", kNumeric, "",
                "-sum min(x,y) / min(sum x, sum y)"},
       .make = plain<OverlapSimilarity>},
      {.info = {"inner-product", "Numerical", "InnerProductSimilarity", "", kNumeric, "", "-sum xy"},
       .make = make_inner_product},
      {.info = {"max-product", "Numerical", "MaxProductSimilarity", "", kNumeric, "", "-max xy where positive"},
       .make = plain<MaxProduct>},
      {.info = {"dtw", "Numerical", "DynamicTimeWarpingDistance", "", kNumeric, "",
                "dynamic time warping of the two rows as series"},
       .takes_weights = false,
       .make = plain<DynamicTimeWarping>},
      {.info = {"kernel-euclidean", "Numerical", "KernelEuclideanDistance", "", kNumeric, kKernelParams,
                "K(x,x) + K(y,y) - 2 K(x,y)", kUnitsMatter, kNothingMissing},
       .make = make_kernel_euclidean},
      {.info = {"haversine", "", "", "", kNumeric, "", "great-circle angle; latitude, longitude in radians",
                kScalesItself, kNothingMissing},
       .n_attributes = 2,
       .takes_weights = false,
       .make = plain<Haversine>},
      {.info = {"mahalanobis", "Bregman", "MahalanobisDistance", "", kNumeric, "",
                "sqrt((x-y)' C^-1 (x-y)), C the training covariance", kScalesItself, kNothingMissing},
       .takes_weights = false,
       .needs_all_rows = true,
       .make = make_mahalanobis},
      {.info = {"generalized-i", "Bregman", "GeneralizedIDivergence", "", kNumeric, "", "sum x ln(x/y) - sum (x-y)",
                kUnitsMatter, kNothingMissing, kOneWay},
       .domain = Domain::positive,
       .make = plain<GeneralizedI>},
      {.info = {"kl", "Bregman", "KLDivergence", "", kNumeric, "", "sum x log2(x/y)", kUnitsMatter, kNothingMissing,
                kOneWay},
       .make = plain<KullbackLeibler>},
      {.info = {"itakura-saito", "Bregman", "ItakuraSaitoDistance", "", kNumeric, "", "x/y - ln(x/y) - 1",
                kScalesItself, kNothingMissing, kOneWay},
       .domain = Domain::positive,
       .n_attributes = 1,
       .make = plain<ItakuraSaito>},
      {.info = {"logarithmic-loss", "Bregman", "LogarithmicLoss", "", kNumeric, "", "x ln(x/y) - (x-y)", kUnitsMatter,
                kNothingMissing, kOneWay},
       .domain = Domain::positive,
       .n_attributes = 1,
       .make = plain<LogarithmicLoss>},
      {.info = {"logistic-loss", "Bregman", "LogisticLoss", "", kNumeric, "", "x ln(x/y) + (1-x) ln((1-x)/(1-y))",
                kUnitsMatter, kNothingMissing, kOneWay},
       .domain = Domain::unit_open,
       .n_attributes = 1,
       .make = plain<LogisticLoss>},
      {.info = {"squared-loss", "Bregman", "SquaredLoss", "", kNumeric, "", "(x-y)^2", kUnitsMatter, kNothingMissing},
       .n_attributes = 1,
       .make = plain<SquaredLoss>},
      {.info = {"nominal-distance", "Nominal", "NominalDistance", "", kNominal, "", "number of x!=y", kScalesItself},
       .raw_codes = true,
       .make = plain<NominalDistance>},
      {.info = {"nominal-dice", "Nominal", "DiceSimilarity", "", kNominal, "", "-2e / (2e+u)", kScalesItself},
       .make = plain<NominalDice>},
      {.info = {"nominal-jaccard", "Nominal", "JaccardSimilarity", "", kNominal, "", "-e / (e+u)", kScalesItself},
       .make = plain<NominalJaccard>},
      {.info = {"kulczynski", "Nominal", "KulczynskiSimilarity", "", kNominal, "", "-e / u", kScalesItself},
       .make = plain<Kulczynski>},
      {.info = {"rogers-tanimoto", "Nominal", "RogersTanimotoSimilarity", "", kNominal, "", "-(e+f) / (e+f+2u)",
                kScalesItself},
       .make = plain<RogersTanimoto>},
      {.info = {"russell-rao", "Nominal", "RussellRaoSimilarity", "", kNominal, "", "-e / (e+u+f)", kScalesItself},
       .make = plain<RussellRao>},
      {.info = {"simple-matching", "Nominal", "SimpleMatchingSimilarity", "", kNominal, "", "-(e+f) / (e+u+f)",
                kScalesItself},
       .make = plain<SimpleMatching>},
  };
  return table;
}

bool lists(std::string_view words, std::string_view word) {
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

std::string full_name(const MetricInfo& info) {
  return std::string(info.family) + "." + std::string(info.rapidminer);
}

const MeasureRow& find_row(std::string_view name) {
  const MeasureRow* by_rapidminer = nullptr;
  for (const MeasureRow& row : rows()) {
    const MetricInfo& info = row.info;
    if (name == info.name || lists(info.aliases, name)) return row;
    if (info.rapidminer.empty()) continue;
    if (name == full_name(info)) return row;
    if (name != info.rapidminer) continue;
    if (by_rapidminer != nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  "metric '" + std::string(name) + "' is ambiguous: say '" + full_name(by_rapidminer->info) + "' or '" +
                      full_name(info) + "'",
                  {.option = "metric"});
    }
    by_rapidminer = &row;
  }
  if (by_rapidminer != nullptr) return *by_rapidminer;
  std::vector<std::string> known;
  for (const MeasureRow& row : rows()) {
    known.emplace_back(row.info.name);
    if (!row.info.rapidminer.empty()) {
      known.emplace_back(row.info.rapidminer);
      known.push_back(full_name(row.info));
    }
  }
  throw Error(ErrorCode::invalid_argument, "unknown metric '" + std::string(name) + "'" + did_you_mean(name, known),
              {.option = "metric"});
}

}  // namespace

const MeasureRow& find_measure(const Metric& metric) {
  const MeasureRow& row = find_row(metric.name);
  for (const auto& [key, value] : metric.params) {
    if (lists(row.info.params, key)) continue;
    const std::string known(row.info.params);
    throw Error(ErrorCode::invalid_argument,
                "metric " + std::string(row.info.name) + " has no parameter '" + key + "'" +
                    (known.empty() ? "" : " (it has " + known + ")"),
                {.option = "metric_params"});
  }
  return row;
}

}  // namespace stope::knn

namespace stope {

const std::vector<MetricInfo>& metrics() try {
  static const std::vector<MetricInfo> infos = [] {
    std::vector<MetricInfo> result;
    for (const knn::MeasureRow& row : knn::rows()) result.push_back(row.info);
    return result;
  }();
  return infos;
} catch (...) {
  rethrow_as_error();
}

const MetricInfo& find_metric(std::string_view name) try { return knn::find_row(name).info; } catch (...) {
  rethrow_as_error();
}

}  // namespace stope
