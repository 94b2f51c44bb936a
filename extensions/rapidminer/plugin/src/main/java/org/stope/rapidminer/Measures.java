// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** RapidMiner's measures of distance, by the names of their classes, and stope's names for them. */
final class Measures {
  /** The parameters of kernels, which RapidMiner and stope name alike, but for the prefix of two sigmas. */
  static final String[] KERNEL_PARAMETERS = {"kernel_type", "kernel_gamma", "kernel_sigma1", "kernel_sigma2",
      "kernel_sigma3", "kernel_degree", "kernel_shift", "kernel_a", "kernel_b"};

  static final String MIXED = "mixed-euclidean";
  static final String KERNEL = "kernel-euclidean";
  static final String MAHALANOBIS = "mahalanobis";

  private static final Map<String, String> METRICS = metrics();

  private Measures() {}

  /** stope's metric for a class of measures; null for a measure that another extension has registered. */
  static String metricOf(String className) {
    return METRICS.get(className.substring(className.lastIndexOf('.') + 1));
  }

  /** All classes that stope knows, by their simple names. */
  static Map<String, String> all() {
    return Collections.unmodifiableMap(METRICS);
  }

  /** Whether a nominal attribute of unequal values adds the same, whatever they are, and a missing one nothing. */
  static boolean skipsMissingNominal(String metric) {
    return metric.equals(MIXED) || metric.equals("nominal-distance");
  }

  /** Whether the measure counts agreements of nominal values, by their texts. */
  static boolean isNominal(String metric) {
    for (Map.Entry<String, String> one : METRICS.entrySet()) {
      if (one.getValue().equals(metric)) {
        return one.getKey().endsWith("NominalSimilarity");
      }
    }
    return false;
  }

  private static Map<String, String> metrics() {
    Map<String, String> names = new HashMap<String, String>();
    names.put("MixedEuclideanDistance", MIXED);
    names.put("NominalDistance", "nominal-distance");
    names.put("DiceNominalSimilarity", "nominal-dice");
    names.put("JaccardNominalSimilarity", "nominal-jaccard");
    names.put("KulczynskiNominalSimilarity", "kulczynski");
    names.put("RogersTanimotoNominalSimilarity", "rogers-tanimoto");
    names.put("RussellRaoNominalSimilarity", "russell-rao");
    names.put("SimpleMatchingNominalSimilarity", "simple-matching");
    names.put("EuclideanDistance", "euclidean");
    names.put("CamberraNumericalDistance", "camberra");
    names.put("ChebychevNumericalDistance", "chebyshev");
    names.put("CorrelationSimilarity", "correlation-similarity");
    names.put("CosineSimilarity", "cosine-similarity");
    names.put("DiceNumericalSimilarity", "dice-similarity");
    names.put("DTWDistance", "dtw");
    names.put("InnerProductSimilarity", "inner-product");
    names.put("JaccardNumericalSimilarity", "jaccard-similarity");
    names.put("KernelEuclideanDistance", KERNEL);
    names.put("ManhattanDistance", "manhattan");
    names.put("MaxProductSimilarity", "max-product");
    names.put("OverlapNumericalSimilarity", "overlap-similarity");
    names.put("GeneralizedIDivergence", "generalized-i");
    names.put("ItakuraSaitoDistance", "itakura-saito");
    names.put("KLDivergence", "kl");
    names.put("LogarithmicLoss", "logarithmic-loss");
    names.put("LogisticLoss", "logistic-loss");
    names.put("MahalanobisDistance", MAHALANOBIS);
    names.put("SquaredEuclideanDistance", "sqeuclidean");
    names.put("SquaredLoss", "squared-loss");
    return names;
  }
}
