// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Model;
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
    for (int change = 0; change < 4; change++) {
      for (String measure : new String[] {"MixedMeasures", "NominalMeasures"}) {
        Map<String, String> parameters = Processes.parameters("k", "3", "measure_types", measure);
        all.compare("changed update " + change + measure, "MixedEuclideanDistance",
            changed(GoldenRuns.BUILT_IN, parameters, change), changed(GoldenRuns.OURS, parameters, change));
      }
    }
    all.failures += numbers();
    System.out.println("  updated models: " + all.summary());
    return all.failures;
  }

  /** A model of numbers learns new examples, twice; the built-in one ignores them. */
  private static long numbers() throws Exception {
    Sheet[] sheets = {sheet(1, 40), sheet(2, 30), sheet(3, 20)};
    for (int s = 0; s < sheets.length; s++) {
      sheets[s].types.set(2, "real");
      sheets[s].values.set(2, null);
      for (int r = 0; r < sheets[s].rows.size(); r++) {
        sheets[s].rows.set(r, new double[] {100 * s + r, r % 3, 1000 * s + r});
      }
    }
    Model model = Processes.run(Processes.process(
        Processes.operator(GoldenRuns.OURS, "learner", Processes.parameters("k", "1"), ""),
        Processes.connect("input 1", "learner.training set"), Processes.connect("learner.model", "result 1")),
        sheets[0].set()).get(Model.class);
    model.updateModel(sheets[1].set());
    model.updateModel(sheets[2].set());
    long wrong = 0;
    for (Sheet sheet : sheets) {
      for (Example example : model.apply(sheet.set())) {
        wrong += example.getPredictedLabel() == example.getLabel() ? 0 : 1;
      }
    }
    System.out.println("  a model of numbers, updated twice: " + wrong + " wrong");
    return wrong;
  }

  /** Examples with another label's name, a label of another kind, numbers for nominal values, and none at all. */
  private static ExampleSet changed(String learner, Map<String, String> parameters, int change) throws Exception {
    Sheet training = sheet(1, 40);
    Sheet more = sheet(2, 30);
    Sheet queries = sheet(3, 50);
    if (parameters.get("measure_types").equals("NominalMeasures")) {
      for (Sheet sheet : java.util.Arrays.asList(training, more, queries)) {
        sheet.types.set(0, "polynominal");
        sheet.values.set(0, java.util.Arrays.asList("0", "1", "2", "3", "4", "5"));
      }
    }
    if (change == 0) {
      more.names.set(2, "kind");
      more.label = "kind";
    } else if (change == 1) {
      more.types.set(2, "real");
      more.values.set(2, null);
    } else if (change == 2) {
      for (Sheet sheet : java.util.Arrays.asList(more, queries)) {
        sheet.types.set(1, "real");
        sheet.values.set(1, null);
        for (double[] row : sheet.rows) {
          row[1] = row[1] == 1 ? 1 : row[1] + 7.5;
        }
      }
    } else {
      more.rows.clear();
    }
    Model model = Processes.run(Processes.process(Processes.operator(learner, "learner", parameters, ""),
        Processes.connect("input 1", "learner.training set"), Processes.connect("learner.model", "result 1")),
        training.set()).get(Model.class);
    model.updateModel(more.set());
    return model.apply(queries.set());
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
