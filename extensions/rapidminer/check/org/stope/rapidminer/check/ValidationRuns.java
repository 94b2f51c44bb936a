// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.operator.IOContainer;
import com.rapidminer.operator.performance.PerformanceVector;
import java.util.Map;

/** A validation with either learner gives the same performance: the folds come from the process's seed. */
final class ValidationRuns {
  private ValidationRuns() {}

  static long run() throws Exception {
    long failures = 0;
    for (String target : new String[] {"polynomial classification", "polynomial"}) {
      for (Map<String, String> parameters : java.util.Arrays.asList(Processes.parameters("k", "5"),
          Processes.parameters("k", "7", "weighted_vote", "true", "measure_types", "NumericalMeasures"))) {
        for (String[] kind : new String[][] {{"x_validation", "false"}, {"x_validation", "true"},
            {"bootstrapping_validation", ""}}) {
          String theirs = performance(GoldenRuns.BUILT_IN, target, parameters, kind);
          String ours = performance(GoldenRuns.OURS, target, parameters, kind);
          System.out.println("  " + kind[0] + (kind[1].equals("true") ? " leave_one_out " : " ") + target + " "
              + parameters + ": " + ours.trim().replaceAll("\\s+", " "));
          if (!ours.equals(theirs)) {
            failures++;
            System.out.println("  DIFFERENT k-NN gives " + theirs);
          }
        }
      }
    }
    return failures;
  }

  private static String performance(String learner, String target, Map<String, String> parameters, String[] kind)
      throws Exception {
    boolean classes = target.endsWith("classification");
    String training = "<process expanded=\"true\">" + Processes.operator(learner, "learner", parameters, "")
        + Processes.connect("training", "learner.training set") + Processes.connect("learner.model", "model")
        + "</process>";
    String scorer = classes ? "performance_classification" : "performance_regression";
    Map<String, String> criteria = classes ? Processes.parameters("accuracy", "true", "kappa", "true")
        : Processes.parameters("root_mean_squared_error", "true", "absolute_error", "true");
    String testing = "<process expanded=\"true\">"
        + Processes.operator("apply_model", "apply", Processes.parameters(), "")
        + Processes.operator(scorer, "score", criteria, "") + Processes.connect("model", "apply.model")
        + Processes.connect("test set", "apply.unlabelled data")
        + Processes.connect("apply.labelled data", "score.labelled data")
        + Processes.connect("score.performance", "averagable 1") + "</process>";
    String xml = Processes.process(
        Processes.operator("generate_data", "data", Processes.parameters("target_function", target, "number_examples",
            "300"), ""),
        Processes.operator(kind[0], "validation",
            kind[1].isEmpty() ? Processes.parameters() : Processes.parameters("leave_one_out", kind[1]),
            training + testing),
        Processes.connect("data.output", "validation.training"),
        Processes.connect("validation.averagable 1", "result 1"));
    IOContainer results = Processes.run(xml);
    PerformanceVector performance = results.get(PerformanceVector.class);
    StringBuilder text = new StringBuilder();
    for (String name : performance.getCriteriaNames()) {
      text.append(name).append(' ').append(performance.getCriterion(name).getAverage()).append(' ');
      text.append(performance.getCriterion(name).getMakroAverage()).append(' ');
    }
    return text.toString();
  }
}
