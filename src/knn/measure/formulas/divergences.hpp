// Bregman divergences (RapidMiner). x is the training row, y the query; a missing value gives NaN.
#pragma once

#include "base/exact_math.hpp"
#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

/// generalized-i: sum x ln(x/y) - sum (x-y), two accumulators.
struct GeneralizedI {
  static constexpr bool kUsesLogarithms = true;

  struct State {
    double log_sum = 0.0;
    double difference = 0.0;
  };
  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    s.log_sum += a.weight * (x * math::log(x / y));
    s.difference += a.weight * (x - y);
  }
  STOPE_HD double finish(const State& s) const { return s.log_sum - s.difference; }
};

struct PlainSum {
  struct State {
    double sum = 0.0;
  };
  STOPE_HD double finish(const State& s) const { return s.sum; }
};

/// kl: sum x log2(x/y), the logarithm as ln(x/y) / ln 2.
struct KullbackLeibler : PlainSum {
  static constexpr bool kUsesLogarithms = true;

  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    constexpr double kLn2 = 0x1.62e42fefa39efp-1;
    s.sum += a.weight * (x * (math::log(x / y) / kLn2));
  }
};

/// itakura-saito: t - ln t - 1 with t = x/y; one attribute.
struct ItakuraSaito : PlainSum {
  static constexpr bool kUsesLogarithms = true;

  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    const double ratio = x / y;
    s.sum += a.weight * (ratio - math::log(ratio) - 1.0);
  }
};

/// logarithmic-loss: x ln(x/y) - (x-y); one attribute.
struct LogarithmicLoss : PlainSum {
  static constexpr bool kUsesLogarithms = true;

  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    s.sum += a.weight * (x * math::log(x / y) - (x - y));
  }
};

/// logistic-loss: x ln(x/y) + (1-x) ln((1-x)/(1-y)); one attribute.
struct LogisticLoss : PlainSum {
  static constexpr bool kUsesLogarithms = true;

  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    s.sum += a.weight * (x * math::log(x / y) + (1.0 - x) * math::log((1.0 - x) / (1.0 - y)));
  }
};

/// squared-loss: (x-y)^2; one attribute.
struct SquaredLoss : PlainSum {
  static constexpr FilterForm kFilter = {.finish = Finish::identity};

  STOPE_HD void add(State& s, double x, double y, const Attribute& a) const {
    const double difference = x - y;
    s.sum += a.weight * (difference * difference);
  }
};

}  // namespace stope::knn
