// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import weka.classifiers.lazy.IBk;
import weka.classifiers.lazy.StopeIBk;
import weka.core.Instances;
import weka.core.Utils;

/** Compares StopeIBk with WEKA's IBk: the same options, the same table, all distributions. */
final class IBkComparison {
  /** Sums of votes follow another order among equal distances, so the last bits may differ. */
  static final double ROUNDING = 1e-12;

  static final String[] SEARCHES = {
    "weka.core.EuclideanDistance -R first-last",
    "weka.core.EuclideanDistance -D -R first-last",
    "weka.core.EuclideanDistance -R 1,3-last",
    "weka.core.EuclideanDistance -V -R 2",
    "weka.core.ManhattanDistance -R first-last",
    "weka.core.ManhattanDistance -D -R first-last",
    "weka.core.ChebyshevDistance -R first-last",
    "weka.core.ChebyshevDistance -D -R first-last",
    "weka.core.MinkowskiDistance -P 3.0 -R first-last",
    "weka.core.MinkowskiDistance -P 0.5 -D -R first-last",
  };

  private IBkComparison() {}

  static String linear(String distance) {
    return "-A \"weka.core.neighboursearch.LinearNNSearch -A \\\"" + distance + "\\\"\"";
  }

  static IBk built(IBk classifier, String options, Instances training) throws Exception {
    classifier.setOptions(Utils.splitOptions(options));
    classifier.buildClassifier(new Instances(training));
    return classifier;
  }

  /** Trains on every other row and predicts the others, in one batch and one by one. */
  static void compare(Instances table, String options) throws Exception {
    Instances training = Tables.half(table, 0);
    Instances test = Tables.half(table, 1);
    IBk theirs = built(new IBk(), options, training);
    StopeIBk ours = (StopeIBk) built(new StopeIBk(), options, training);
    StopeIBk single = (StopeIBk) built(new StopeIBk(), options, training);
    double[][] batch = ours.distributionsForInstances(test);
    for (int i = 0; i < test.numInstances(); i++) {
      String where = table.relationName() + ", " + options + ", row " + i;
      double[] expected = theirs.distributionForInstance(test.instance(i));
      same(expected, batch[i], where + " of a batch");
      same(expected, single.distributionForInstance(test.instance(i)), where + " by itself");
    }
    assertEquals(theirs.getKNN(), ours.getKNN(), table.relationName() + ", " + options + ": k");
  }

  private static void same(double[] expected, double[] actual, String where) {
    assertEquals(expected.length, actual.length, where);
    for (int c = 0; c < expected.length; c++) {
      double scale = expected.length == 1 ? Math.max(1, Math.abs(expected[c])) : 1;
      assertEquals(expected[c], actual[c], ROUNDING * scale, where + ", class " + c);
    }
    if (expected.length > 1) {
      assertEquals(Utils.maxIndex(expected), Utils.maxIndex(actual), where + ": class");
    }
  }
}
