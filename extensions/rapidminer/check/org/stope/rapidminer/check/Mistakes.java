// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.Process;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.IOContainer;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.ProcessSetupError;
import com.rapidminer.operator.UserError;
import java.util.Map;

/** Mistakes of users get texts of the extension, in plain words. */
final class Mistakes {
  private Mistakes() {}

  static long run() throws Exception {
    long failures = 0;
    Sheet plain = table(false);
    Sheet unlabelled = table(false);
    unlabelled.label = null;
    String knn = GoldenRuns.OURS;
    failures += mistake(knn, unlabelled, "no label", Processes.parameters());
    failures += mistake(knn, table(true), "is nominal", Processes.parameters("measure_types", "NumericalMeasures"));
    failures += mistake(knn, plain, "at least one neighbour", Processes.parameters("k", "0"));
    failures += mistake(knn, plain, "memory", Processes.parameters("memory_limit", "1000"));
    failures += mistake(knn, plain, "asks for a GPU", Processes.parameters("device", "gpu"));
    failures += mistake(knn, plain, "nothing was sent", Processes.parameters("server", "gpu-box.invalid:7400"));
    failures += mistake(knn, plain, "HOST:PORT", Processes.parameters("server", "gpu-box"));
    failures += mistake(knn, plain, "in clear", Processes.parameters("server", "http://gpu-box:7400"));
    failures += mistake(knn, plain, "memory_limit", Processes.parameters("memory_limit", "much"));
    failures += mistake("stope:local_discretization_tree", unlabelled, "no label", Processes.parameters());
    failures += mistake("stope:pca", table(true), "not numeric", Processes.parameters());
    failures += mistake("stope:supervised_discretization", unlabelled, "no label", Processes.parameters());
    failures += largeK(plain, "add up to 500/501", Processes.parameters("k", "501"));
    failures += largeK(plain, "less than 1", Processes.parameters("k", "501", "weighted_vote", "true"));
    Sheet numbers = table(false);
    numbers.label = "x";
    failures += largeK(numbers, "too near to 0", Processes.parameters("k", "501", "measure_types", "MixedMeasures"));
    failures += largeK(plain, "", Processes.parameters("k", "500"));
    return failures;
  }

  /** The warning stands at the operator after the process, and in the model's text; empty words: there is none. */
  private static long largeK(Sheet sheet, String words, Map<String, String> parameters) throws Exception {
    Process process = new Process(Processes.process(Processes.operator(GoldenRuns.OURS, "op", parameters, ""),
        Processes.connect("input 1", "op.training set"), Processes.connect("op.model", "result 1")));
    String model = process.run(new IOContainer(sheet.set())).get(Model.class).toString();
    String shown = "";
    for (ProcessSetupError warning : process.getOperator("op").getErrorList()) {
      shown += warning.getMessage().startsWith("The parameter 'k'") ? warning.getMessage() : "";
    }
    boolean right = words.isEmpty() ? shown.isEmpty() && !model.contains("there are only")
        : shown.contains(words) && model.contains(shown);
    System.out.println("  " + (right ? "" : "OTHER WORDS than '" + words + "': ") + "warning: " + shown);
    return right ? 0 : 1;
  }

  private static Sheet table(boolean nominal) {
    Sheet sheet = new Sheet();
    sheet.column("x", "real", null);
    if (nominal) {
      sheet.column("colour", "polynominal", java.util.Arrays.asList("red", "green"));
    }
    sheet.column("class", "polynominal", java.util.Arrays.asList("a", "b"));
    sheet.label = "class";
    for (int r = 0; r < 500; r++) {
      sheet.rows.add(nominal ? new double[] {r, r % 2, r % 2} : new double[] {r, r % 2});
    }
    return sheet;
  }

  private static long mistake(String operator, Sheet sheet, String words, Map<String, String> parameters)
      throws Exception {
    boolean learner = operator.endsWith("nn") || operator.endsWith("tree");
    String xml = Processes.process(Processes.operator(operator, "op", parameters, ""),
        Processes.operator("apply_model", "apply", Processes.parameters(), ""),
        Processes.connect("input 1", "op." + (learner ? "training set" : "example set input")),
        Processes.connect("input 2", "apply.unlabelled data"),
        Processes.connect("op." + (learner ? "model" : "preprocessing model"), "apply.model"),
        Processes.connect("apply.labelled data", "result 1"));
    try {
      Processes.run(xml, sheet.set(), sheet.set()).get(ExampleSet.class);
      System.out.println("  NO ERROR where '" + words + "' was expected " + parameters);
    } catch (UserError error) {
      if (error.getMessage().contains(words)) {
        System.out.println("  " + error.getErrorName() + ": " + error.getMessage());
        return 0;
      }
      System.out.println("  OTHER WORDS than '" + words + "': " + error.getMessage());
    }
    return 1;
  }
}
