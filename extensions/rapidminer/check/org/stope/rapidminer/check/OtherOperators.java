// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.IOContainer;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.learner.tree.TreeModel;
import com.rapidminer.operator.preprocessing.discretization.DiscretizationModel;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;

/** The operators that have no twin among the built-in ones: their results are held against what they must be. */
final class OtherOperators {
  private OtherOperators() {}

  private static final class Failed extends RuntimeException {
    Failed(String what) {
      super(what);
    }
  }

  private static void require(boolean fact, String what) {
    if (!fact) {
      throw new Failed(what);
    }
  }

  private static Sheet sheet() {
    Random random = new Random(5);
    Sheet sheet = new Sheet();
    sheet.column("a", "real", null);
    sheet.column("b", "integer", null);
    sheet.column("colour", "polynominal", Arrays.asList("red", "green", "blue"));
    sheet.column("class", "binominal", Arrays.asList("no", "yes"));
    sheet.label = "class";
    for (int r = 0; r < 200; r++) {
      double a = random.nextGaussian();
      double b = random.nextInt(10);
      double colour = random.nextInt(3);
      sheet.rows.add(new double[] {a, b, colour, a > 0.25 && colour != 1 || b > 7 ? 1 : 0});
    }
    return sheet;
  }

  static long run() throws Exception {
    tree();
    discretization();
    fractionalWeights();
    pca();
    componentsOfShares();
    componentsOfNothing();
    statistics();
    System.out.println("  tree, discretization, PCA and statistics are what they must be");
    return 0;
  }

  private static void tree() throws Exception {
    Map<String, String> none = Processes.parameters();
    ExampleSet labelled =
        Processes.learnAndApply("stope:local_discretization_tree", none, sheet().set(), sheet().set());
    int wrong = 0;
    for (Example example : labelled) {
      wrong += example.getPredictedLabel() == example.getLabel() ? 0 : 1;
    }
    require(wrong == 0, "an unpruned tree is wrong in " + wrong + " of its training examples");
    IOContainer results = Processes.run(Processes.process(
        Processes.operator("stope:local_discretization_tree", "tree", Processes.parameters("maximal_depth", "2"), ""),
        Processes.connect("input 1", "tree.training set"), Processes.connect("tree.model", "result 1")), sheet().set());
    String text = results.get(TreeModel.class).toString();
    require(text.contains("≥") || text.contains("="), "the tree has no conditions: " + text);
    System.out.println("  " + text.trim().replaceAll("\\s*\n", "\n    "));
  }

  private static void fractionalWeights() throws Exception {
    ExampleSet training = sheet().set();
    Attribute weight = training.getAttributes().get("b");
    for (Example example : training) {
      example.setValue(weight, 0.03125 + example.getValue(weight) / 1024);
    }
    training.getAttributes().setWeight(weight);
    ExampleSet labelled = Processes.learnAndApply("stope:local_discretization_tree",
        Processes.parameters("maximal_depth", "1"), training, training);
    // Two leaves: in each the confidence is the share of the weights.
    Map<Double, double[]> leaves = new java.util.HashMap<>();
    for (Example example : labelled) {
      double[] sums = leaves.computeIfAbsent(example.getConfidence("yes"), confidence -> new double[2]);
      sums[(int) example.getLabel()] += example.getWeight();
    }
    require(leaves.size() == 2, "not two leaves: " + leaves.keySet());
    leaves.forEach((confidence, sums) -> require(Math.abs(confidence - sums[1] / (sums[0] + sums[1])) < 1e-6,
        "confidence " + confidence + " where the weights are " + Arrays.toString(sums)));
  }

  private static void componentsOfShares() throws Exception {
    for (String[] wanted : new String[][] {{"1.0", "2"}, {"0.0", "1"}, {"0.01", "1"}}) {
      ExampleSet scores = Processes.run(Processes.process(Processes.operator("stope:pca", "pca",
          Processes.parameters("dimensionality_reduction", "keep variance", "variance_threshold", wanted[0],
              "skip_nominal_attributes", "true"), ""), Processes.connect("input 1", "pca.example set input"),
          Processes.connect("pca.example set output", "result 1")), sheet().set()).get(ExampleSet.class);
      require(scores.getAttributes().size() == Integer.parseInt(wanted[1]),
          "the share " + wanted[0] + " keeps " + scores.getAttributes().size() + " components");
    }
  }

  /** An empty set gets the attributes, too, and a special attribute keeps its name. */
  private static void componentsOfNothing() throws Exception {
    Model model = Processes.run(Processes.process(Processes.operator("stope:pca", "pca",
        Processes.parameters("dimensionality_reduction", "none", "skip_nominal_attributes", "true"), ""),
        Processes.connect("input 1", "pca.example set input"),
        Processes.connect("pca.preprocessing model", "result 1")), sheet().set()).get(Model.class);
    Sheet empty = sheet();
    empty.rows.clear();
    empty.names.set(3, "pc_1");
    empty.label = "pc_1";
    ExampleSet scores = model.apply(empty.set());
    require(scores.getAttributes().size() == 2, "an empty set gets " + scores.getAttributes().size() + " scores");
    require(scores.getAttributes().get("pc_1").isNominal() && scores.getAttributes().get("pc_1_") != null,
        "a score takes the label's name");
  }

  private static void discretization() throws Exception {
    for (String method : new String[] {"md-global", "md-local", "mdlp", "chimerge", "equal-width", "equal-frequency"}) {
      IOContainer results = Processes.run(Processes.process(
          Processes.operator("stope:supervised_discretization", "cuts", Processes.parameters("method", method), ""),
          Processes.connect("input 1", "cuts.example set input"),
          Processes.connect("cuts.example set output", "result 1"),
          Processes.connect("cuts.preprocessing model", "result 2")), sheet().set());
      ExampleSet coded = results.get(ExampleSet.class);
      require(results.get(DiscretizationModel.class) != null, "no model");
      require(coded.getAttributes().get("a").isNominal(), method + " leaves 'a' numeric");
      Sheet plain = sheet();
      for (int row = 0; row < plain.rows.size(); row++) {
        String range = coded.getExample(row).getValueAsString(coded.getAttributes().get("a"));
        require(contains(range, plain.rows.get(row)[0]), range + " does not contain " + plain.rows.get(row)[0]);
      }
    }
  }

  /** "range2 [0.5, 1.25)". */
  private static boolean contains(String range, double value) {
    String[] ends = range.substring(range.indexOf(' ') + 2, range.length() - 1).split(", ");
    double low = ends[0].equals("-∞") ? Double.NEGATIVE_INFINITY : Double.parseDouble(ends[0]);
    double high = ends[1].equals("∞") ? Double.POSITIVE_INFINITY : Double.parseDouble(ends[1]);
    return value >= low && value < high;
  }

  private static void pca() throws Exception {
    Map<String, String> two = Processes.parameters("dimensionality_reduction", "fixed number", "number_of_components",
        "2", "skip_nominal_attributes", "true");
    IOContainer results = Processes.run(Processes.process(Processes.operator("stope:pca", "pca", two, ""),
        Processes.operator("apply_model", "apply", Processes.parameters(), ""),
        Processes.connect("input 1", "pca.example set input"), Processes.connect("pca.example set output", "result 1"),
        Processes.connect("pca.preprocessing model", "apply.model"),
        Processes.connect("input 2", "apply.unlabelled data"), Processes.connect("apply.labelled data", "result 2"),
        Processes.connect("apply.model", "result 3")), sheet().set(), sheet().set());
    ExampleSet scores = results.get(ExampleSet.class, 0);
    ExampleSet again = results.get(ExampleSet.class, 1);
    require(scores.getAttributes().size() == 2, "not two components");
    require(scores.getAttributes().getLabel() != null, "the label is gone");
    double sum = 0;
    double product = 0;
    for (int row = 0; row < scores.size(); row++) {
      double one = scores.getExample(row).getValue(scores.getAttributes().get("pc_1"));
      sum += one;
      product += one * scores.getExample(row).getValue(scores.getAttributes().get("pc_2"));
      double other = again.getExample(row).getValue(again.getAttributes().get("pc_1"));
      require(one == other, "Apply Model gives other scores");
    }
    require(Math.abs(sum) < 1e-9 && Math.abs(product) < 1e-8, "components are not centred and uncorrelated");
    require(results.get(Model.class).toString().contains("Principal components"), "the model has no text");
  }

  private static void statistics() throws Exception {
    ExampleSet found = Processes.run(Processes.process(
        Processes.operator("stope:statistics", "statistics", Processes.parameters(), ""),
        Processes.connect("input 1", "statistics.example set input"),
        Processes.connect("statistics.statistics", "result 1")), sheet().set()).get(ExampleSet.class);
    Attribute name = found.getAttributes().get("column");
    ExampleSet set = sheet().set();
    set.recalculateAllAttributeStatistics();
    require(found.size() == 4, "not an example for each attribute: " + found.size());
    for (Example one : found) {
      Attribute attribute = set.getAttributes().get(one.getValueAsString(name));
      if (attribute.isNumerical()) {
        double mean = one.getValue(found.getAttributes().get("mean"));
        require(Math.abs(mean - set.getStatistics(attribute, "average")) < 1e-12, "another mean of " + attribute);
        double min = one.getValue(found.getAttributes().get("min"));
        require(min == set.getStatistics(attribute, "minimum"), "another minimum of " + attribute);
      }
    }
  }
}
