// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Application sets that do not match: attributes that are missing, in another order, of another type, or unknown. */
final class MatchingRuns {
  private MatchingRuns() {}

  private static Sheet training() {
    Sheet sheet = new Sheet();
    List<String> colours = Arrays.asList("red", "green", "blue");
    sheet.column("size", "real", null);
    sheet.column("colour", "polynominal", colours);
    sheet.column("sweet", "binominal", Arrays.asList("no", "yes"));
    sheet.column("weight", "integer", null);
    sheet.column("kind", "polynominal", Arrays.asList("apple", "pear", "plum"));
    sheet.label = "kind";
    for (int i = 0; i < 60; i++) {
      sheet.rows.add(new double[] {i % 7, i % 3, i % 2, i % 5, i * i % 3});
    }
    sheet.rows.add(new double[] {1, 1, 1, 1, Double.NaN});  // a missing label is class 0
    return sheet;
  }

  private static Sheet rows(double[]... rows) {
    Sheet sheet = new Sheet();
    sheet.rows.addAll(Arrays.asList(rows));
    return sheet;
  }

  static long run() throws Exception {
    Sheet lacking = rows(new double[] {2, 1}, new double[] {5, 4});
    lacking.column("weight", "integer", null);
    lacking.column("size", "real", null);
    Sheet numberForNominal = rows(new double[] {1, 2, 0, 1}, new double[] {2, 0.5, 1, 3}, new double[] {3, 7, 9, 2},
        new double[] {3, -0.0, -1, 2}, new double[] {3, Double.NaN, 1, 2});
    numberForNominal.column("size", "real", null);
    numberForNominal.column("colour", "real", null);
    numberForNominal.column("sweet", "integer", null);
    numberForNominal.column("weight", "real", null);
    Sheet nominalForNumber = rows(new double[] {1, 2, 0, 1}, new double[] {0, 0, 1, 0});
    nominalForNumber.column("size", "polynominal", Arrays.asList("a", "b"));
    nominalForNumber.column("colour", "polynominal", Arrays.asList("violet", "blue", "red"));
    nominalForNumber.column("sweet", "binominal", Arrays.asList("yes", "no"));
    nominalForNumber.column("weight", "polynominal", Arrays.asList("u", "v"));

    Comparison all = new Comparison();
    int runs = 0;
    for (Sheet test : Arrays.asList(lacking, numberForNominal, nominalForNumber)) {
      for (Map<String, String> parameters : Arrays.asList(Processes.parameters("k", "3"),
          Processes.parameters("k", "4", "weighted_vote", "true"))) {
        all.compare("test set " + runs, "MixedEuclideanDistance",
            Processes.learnAndApply(GoldenRuns.BUILT_IN, parameters, training().set(), test.set()),
            Processes.learnAndApply(GoldenRuns.OURS, parameters, training().set(), test.set()));
        runs++;
      }
    }
    System.out.println("  " + runs + " sets that do not match: " + all.summary());
    return all.failures;
  }
}
