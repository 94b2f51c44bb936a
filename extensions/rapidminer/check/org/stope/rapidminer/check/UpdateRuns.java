// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.ExampleSet;
import java.util.Map;
import java.util.Random;

/** Update Model adds rows to a model of classes as it does to the built-in one. */
final class UpdateRuns {
  private UpdateRuns() {}

  private static Sheet sheet(long seed, int rows) {
    Random random = new Random(seed);
    Sheet sheet = new Sheet();
    sheet.column("x", "real", null);
    sheet.column("colour", "polynominal", java.util.Arrays.asList("red", "green", "blue"));
    sheet.column("class", "polynominal", java.util.Arrays.asList("a", "b", "c"));
    sheet.label = "class";
    for (int r = 0; r < rows; r++) {
      sheet.rows.add(new double[] {random.nextInt(6), random.nextInt(10) == 0 ? Double.NaN : random.nextInt(3),
          random.nextInt(3)});
    }
    return sheet;
  }

  static long run() throws Exception {
    Comparison all = new Comparison();
    for (Map<String, String> parameters : java.util.Arrays.asList(Processes.parameters("k", "3"),
        Processes.parameters("k", "6", "weighted_vote", "true"))) {
      all.compare("update " + parameters, "MixedEuclideanDistance", updated(GoldenRuns.BUILT_IN, parameters),
          updated(GoldenRuns.OURS, parameters));
    }
    System.out.println("  updated models: " + all.summary());
    return all.failures;
  }

  private static ExampleSet updated(String learner, Map<String, String> parameters) throws Exception {
    String xml = Processes.process(Processes.operator(learner, "learner", parameters, ""),
        Processes.operator("update_model", "update", Processes.parameters(), ""),
        Processes.operator("apply_model", "apply", Processes.parameters(), ""),
        Processes.connect("input 1", "learner.training set"), Processes.connect("input 2", "update.example set"),
        Processes.connect("learner.model", "update.model"), Processes.connect("update.model", "apply.model"),
        Processes.connect("input 3", "apply.unlabelled data"),
        Processes.connect("apply.labelled data", "result 1"));
    return Processes.run(xml, sheet(1, 40).set(), sheet(2, 30).set(), sheet(3, 50).set()).get(ExampleSet.class);
  }
}
