// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Model;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Sets that are no plain tables: views by filters and samples, whose iterators end in their own way, other storage,
 * weights, no rows at all, and nominal mappings that grow after the training.
 */
final class ViewRuns {
  private static final int ROWS = 9000;

  private final Comparison all = new Comparison();
  private int runs;

  private static Map<String, Map<String, String>> views() {
    Map<String, Map<String, String>> views = new LinkedHashMap<>();
    views.put("filter_examples", Processes.parameters("condition_class", "attribute_value_filter", "parameter_string",
        "x0>0"));
    views.put("sample", Processes.parameters("sample_size", "50", "use_local_random_seed", "true"));
    views.put("sample_stratified", Processes.parameters("sample", "relative", "sample_ratio", "0.5",
        "use_local_random_seed", "true"));
    views.put("sample_bootstrapping", Processes.parameters("use_local_random_seed", "true"));
    views.put("sort", Processes.parameters("attribute_name", "x0", "sorting_direction", "decreasing"));
    views.put("shuffle", Processes.parameters("use_local_random_seed", "true"));
    views.put("materialize_data", Processes.parameters("datamanagement", "float_array"));
    return views;
  }

  private static Sheet sheet(long seed, int rows) {
    Random random = new Random(seed);
    Sheet sheet = new Sheet();
    sheet.column("x0", "real", null);
    sheet.column("x1", "real", null);
    sheet.column("w", "real", null);
    sheet.column("y", "polynominal", Arrays.asList("a", "b", "c"));
    sheet.label = "y";
    for (int r = 0; r < rows; r++) {
      sheet.rows.add(new double[] {random.nextGaussian(), random.nextInt(5), random.nextDouble(), random.nextInt(3)});
    }
    return sheet;
  }

  long run() throws Exception {
    for (Map.Entry<String, Map<String, String>> view : views().entrySet()) {
      for (int rows : new int[] {200, ROWS}) {
        compare(view.getKey() + " " + rows, viewed(GoldenRuns.BUILT_IN, view, rows),
            viewed(GoldenRuns.OURS, view, rows));
      }
      statistics(view);
    }
    Map<String, String> three = Processes.parameters("k", "3");
    compare("no rows", Processes.learnAndApply(GoldenRuns.BUILT_IN, three, sheet(1, 50).set(), sheet(2, 0).set()),
        Processes.learnAndApply(GoldenRuns.OURS, three, sheet(1, 50).set(), sheet(2, 0).set()));
    compare("weights", Processes.learnAndApply(GoldenRuns.BUILT_IN, three, weighted(), sheet(2, 50).set()),
        Processes.learnAndApply(GoldenRuns.OURS, three, weighted(), sheet(2, 50).set()));
    for (String measure : new String[] {"MixedMeasures", "NominalMeasures"}) {
      for (String vote : new String[] {"false", "true"}) {
        Map<String, String> parameters =
            Processes.parameters("k", "3", "measure_types", measure, "weighted_vote", vote);
        compare("grown " + parameters, grown(GoldenRuns.BUILT_IN, parameters), grown(GoldenRuns.OURS, parameters));
      }
    }
    Map<String, String> negative = Processes.parameters("k", "3", "measure_types", "NominalMeasures", "nominal_measure",
        "SimpleMatchingSimilarity", "weighted_vote", "true");
    compare("grown " + negative, grown(GoldenRuns.BUILT_IN, negative), grown(GoldenRuns.OURS, negative));
    oddNames();
    System.out.println("  " + runs + " sets that are no plain tables: " + all.summary());
    return all.failures;
  }

  private void compare(String what, ExampleSet theirs, ExampleSet ours) {
    runs++;
    if (theirs.size() != ours.size()) {
      all.fail(what + ": " + theirs.size() + " rows became " + ours.size());
    } else {
      all.compare(what, "MixedEuclideanDistance", theirs, ours);
    }
  }

  private static ExampleSet viewed(String learner, Map.Entry<String, Map<String, String>> view, int rows)
      throws Exception {
    return Processes.run(Processes.process(Processes.operator(view.getKey(), "first", view.getValue(), ""),
        Processes.operator(view.getKey(), "second", view.getValue(), ""),
        Processes.operator(learner, "learner", Processes.parameters("k", "3", "weighted_vote", "true"), ""),
        Processes.operator("apply_model", "apply", Processes.parameters(), ""),
        Processes.connect("input 1", "first.example set input"),
        Processes.connect("input 2", "second.example set input"),
        Processes.connect("first.example set output", "learner.training set"),
        Processes.connect("learner.model", "apply.model"),
        Processes.connect("second.example set output", "apply.unlabelled data"),
        Processes.connect("apply.labelled data", "result 1")), sheet(1, Math.min(rows, 2000)).set(),
        sheet(2, rows).set()).get(ExampleSet.class);
  }

  /** The operators without a twin read views by the same class; it is enough that they end with as many rows. */
  private void statistics(Map.Entry<String, Map<String, String>> view) throws Exception {
    ExampleSet found = Processes.run(Processes.process(Processes.operator(view.getKey(), "view", view.getValue(), ""),
        Processes.operator("stope:statistics", "statistics", Processes.parameters(), ""),
        Processes.connect("input 1", "view.example set input"),
        Processes.connect("view.example set output", "statistics.example set input"),
        Processes.connect("statistics.statistics", "result 1")), sheet(1, 300).set()).get(ExampleSet.class);
    if (found.size() != 4) {
      all.fail("statistics of " + view.getKey());
    }
  }

  private static ExampleSet weighted() {
    ExampleSet set = sheet(1, 80).set();
    set.getAttributes().setWeight(set.getAttributes().get("w"));
    return set;
  }

  /** RapidMiner's clone of a set shares its mappings: they grow although the model has been learned. */
  private static ExampleSet grown(String learner, Map<String, String> parameters) throws Exception {
    ExampleSet training = colours(Arrays.asList("red", "green"), 30).set();
    Model model = Processes.run(Processes.process(Processes.operator(learner, "learner", parameters, ""),
        Processes.connect("input 1", "learner.training set"), Processes.connect("learner.model", "result 1")), training)
        .get(Model.class);
    Attribute colour = training.getAttributes().get("colour");
    colour.getMapping().mapString("blue");
    colour.getMapping().mapString("violet");
    training.getAttributes().getLabel().getMapping().mapString("c");
    return model.apply(colours(Arrays.asList("violet", "red", "yellow", "blue"), 20).set());
  }

  private static Sheet colours(List<String> colours, int rows) {
    Random random = new Random(rows);
    Sheet sheet = new Sheet();
    sheet.column("colour", "polynominal", colours);
    sheet.column("shade", "polynominal", Arrays.asList("light", "dark"));
    sheet.column("y", "polynominal", Arrays.asList("a", "b"));
    sheet.label = "y";
    for (int r = 0; r < rows; r++) {
      sheet.rows.add(new double[] {random.nextInt(colours.size()), random.nextInt(2), random.nextInt(2)});
    }
    return sheet;
  }

  /** Names that are no text elsewhere. */
  private void oddNames() throws Exception {
    Sheet odd = colours(Arrays.asList("\ud800", "", "\u0000"), 40);
    odd.names.set(0, "a\u0000b");
    odd.names.set(1, "\udc00");
    Map<String, String> three = Processes.parameters("k", "3");
    compare("odd names", Processes.learnAndApply(GoldenRuns.BUILT_IN, three, odd.set(), odd.set()),
        Processes.learnAndApply(GoldenRuns.OURS, three, odd.set(), odd.set()));
  }
}
