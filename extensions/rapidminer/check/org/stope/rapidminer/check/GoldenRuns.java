// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The golden data sets: k-NN (stope) against the files, and against the operator k-NN in this RapidMiner. */
final class GoldenRuns {
  static final String BUILT_IN = "k_nn";
  static final String OURS = "stope:k_nn";
  private static final Map<String, String> KEYS = new HashMap<>();

  static {
    KEYS.put("MixedMeasures", "mixed_measure");
    KEYS.put("NominalMeasures", "nominal_measure");
    KEYS.put("NumericalMeasures", "numerical_measure");
    KEYS.put("BregmanDivergences", "divergence");
  }

  private final Goldens goldens;

  GoldenRuns(Path folder) {
    goldens = new Goldens(folder);
  }

  @SuppressWarnings("unchecked")
  long run() throws Exception {
    Comparison builtIn = new Comparison();
    Comparison files = new Comparison();
    Set<String> sets = new HashSet<>();
    Set<String> measures = new HashSet<>();
    int runs = 0;
    for (Map<String, Object> run : goldens.runs()) {
      String dataset = (String) run.get("dataset");
      String measure = (String) run.get("measure");
      Sheet train = goldens.sheet(dataset, "train");
      Sheet test = goldens.sheet(dataset, "test");
      Map<String, List<String>> expected = goldens.predictions((String) run.get("predictions"));
      for (Object k : (List<Object>) run.get("k")) {
        for (Object weighted : (List<Object>) run.get("weighted_vote")) {
          Map<String, String> parameters = parameters(run, ((Double) k).intValue(), (Boolean) weighted);
          ExampleSet theirs = Processes.learnAndApply(BUILT_IN, parameters, train.set(), test.set());
          ExampleSet ours = Processes.learnAndApply(OURS, parameters, train.set(), test.set());
          String what = dataset + " " + parameters;
          builtIn.compare(what, measure, theirs, ours);
          compareWithFile(files, what, measure, expected, ((Double) k).intValue() + "," + weighted, ours);
          runs++;
        }
      }
      sets.add(dataset);
      measures.add(run.get("measure_types") + "." + measure);
    }
    System.out.println("  " + sets.size() + " data sets, " + measures.size() + " measures, " + runs + " processes");
    System.out.println("  against k-NN in this RapidMiner: " + builtIn.summary());
    System.out.println("  against the files: " + files.summary());
    return builtIn.failures + files.failures;
  }

  private static Map<String, String> parameters(Map<String, Object> run, int k, boolean weighted) {
    String types = (String) run.get("measure_types");
    Map<String, String> all = Processes.parameters("k", String.valueOf(k), "weighted_vote", String.valueOf(weighted),
        "measure_types", types, KEYS.get(types), (String) run.get("measure"));
    if (run.get("kernel_type") != null) {
      all.put("kernel_type", (String) run.get("kernel_type"));
    }
    return all;
  }

  private static void compareWithFile(Comparison files, String what, String measure, Map<String, List<String>> expected,
      String prefix, ExampleSet ours) {
    Attribute label = ours.getAttributes().getPredictedLabel();
    int row = 0;
    for (Example example : ours) {
      List<String> wanted = expected.get(prefix + "," + row);
      if (wanted != null) {
        List<String> got = new ArrayList<>();
        if (label.isNominal()) {
          got.add(example.getValueAsString(label));
          for (String value : label.getMapping().getValues()) {
            got.add(String.valueOf(example.getConfidence(value)));
          }
        } else {
          got.add(String.valueOf(example.getValue(label)));
        }
        files.compare(what + " row " + row, measure, wanted, got);
      }
      row++;
    }
  }

  /** What k-NN refuses, k-NN (stope) refuses, too. */
  long errors() throws Exception {
    long failures = 0;
    long refused = 0;
    for (Map<String, Object> run : goldens.expectedErrors()) {
      String dataset = (String) run.get("dataset");
      Map<String, String> parameters = parameters(run, 3, false);
      try {
        Processes.learnAndApply(OURS, parameters, goldens.sheet(dataset, "train").set(),
            goldens.sheet(dataset, "test").set());
        failures++;
        System.out.println("  NOT REFUSED " + dataset + " " + parameters);
      } catch (com.rapidminer.operator.OperatorException wanted) {
        refused++;
      }
    }
    System.out.println("  " + refused + " mistakes refused");
    return failures;
  }
}
