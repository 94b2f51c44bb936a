// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.ExampleSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Random tables with seeds 1, 2, ...: numeric, nominal and mixed attributes, missing values, few distinct numbers so
 * that distances tie, classification and regression, every measure that the attributes allow.
 */
final class RandomTables {
  private static final String[] NUMERICAL = {"EuclideanDistance", "CamberraDistance", "ChebychevDistance",
      "CorrelationSimilarity", "CosineSimilarity", "DiceSimilarity", "DynamicTimeWarpingDistance",
      "InnerProductSimilarity", "JaccardSimilarity", "KernelEuclideanDistance", "ManhattanDistance",
      "MaxProductSimilarity", "OverlapSimilarity"};
  private static final String[] NOMINAL = {"NominalDistance", "DiceSimilarity", "JaccardSimilarity",
      "KulczynskiSimilarity", "RogersTanimotoSimilarity", "RussellRaoSimilarity", "SimpleMatchingSimilarity"};
  private static final String[] KERNELS = {"dot", "radial", "polynomial", "sigmoid", "anova", "epanechnikov",
      "gausian_combination", "multiquadric"};

  private final int count;

  RandomTables(int count) {
    this.count = count;
  }

  long run() throws Exception {
    Comparison all = new Comparison();
    for (int seed = 1; seed <= count; seed++) {
      Random random = new Random(seed);
      boolean numeric = random.nextInt(3) != 0;
      boolean nominal = !numeric || random.nextInt(3) == 0;
      Shape shape = new Shape(random, numeric, nominal);
      Sheet train = shape.sheet(random, 5 + random.nextInt(120));
      Sheet test = shape.sheet(random, 1 + random.nextInt(60));
      Map<String, String> parameters = measure(random, numeric, nominal);
      parameters.put("k", String.valueOf(1 + random.nextInt(random.nextInt(4) == 0 ? train.rows.size() + 5 : 9)));
      parameters.put("weighted_vote", String.valueOf(random.nextBoolean()));
      ExampleSet theirs = Processes.learnAndApply(GoldenRuns.BUILT_IN, parameters, train.set(), test.set());
      ExampleSet ours = Processes.learnAndApply(GoldenRuns.OURS, parameters, train.set(), test.set());
      String measure = parameters.getOrDefault("numerical_measure", parameters.getOrDefault("nominal_measure", ""));
      all.compare("seed " + seed + " " + parameters, measure, theirs, ours);
    }
    System.out.println("  " + count + " tables: " + all.summary());
    return all.failures;
  }

  private static Map<String, String> measure(Random random, boolean numeric, boolean nominal) {
    if (numeric && nominal || random.nextInt(3) == 0) {
      return Processes.parameters("measure_types", "MixedMeasures");
    }
    if (!numeric) {
      return Processes.parameters("measure_types", "NominalMeasures", "nominal_measure",
          NOMINAL[random.nextInt(NOMINAL.length)]);
    }
    String measure = NUMERICAL[random.nextInt(NUMERICAL.length)];
    Map<String, String> parameters =
        Processes.parameters("measure_types", "NumericalMeasures", "numerical_measure", measure);
    if (measure.startsWith("Kernel")) {
      parameters.put("kernel_type", KERNELS[random.nextInt(KERNELS.length)]);
      parameters.put("kernel_degree", "2");
    }
    return parameters;
  }

  /** Names, types and values of the columns, and how their values are drawn. */
  private static final class Shape {
    private final Sheet columns = new Sheet();
    private final int distinct;
    private final double missing;

    Shape(Random random, boolean numeric, boolean nominal) {
      int n = numeric ? 1 + random.nextInt(6) : 0;
      for (int c = 0; c < n; c++) {
        columns.column("x" + c, random.nextInt(3) == 0 ? "integer" : "real", null);
      }
      n = nominal ? 1 + random.nextInt(5) : 0;
      for (int c = 0; c < n; c++) {
        boolean two = random.nextInt(3) == 0;
        columns.column("n" + c, two ? "binominal" : "polynominal", words("v", two ? 2 : 2 + random.nextInt(6)));
      }
      boolean classes = random.nextInt(4) != 0;
      columns.column("y", classes ? "polynominal" : "real", classes ? words("c", 2 + random.nextInt(4)) : null);
      columns.label = "y";
      distinct = random.nextInt(2) == 0 ? 3 + random.nextInt(4) : 0;
      missing = random.nextInt(3) == 0 ? 0.1 : 0;
    }

    private static List<String> words(String prefix, int n) {
      List<String> words = new ArrayList<>();
      for (int i = 0; i < n; i++) {
        words.add(prefix + i);
      }
      return words;
    }

    Sheet sheet(Random random, int rows) {
      Sheet sheet = new Sheet();
      for (int c = 0; c < columns.names.size(); c++) {
        sheet.column(columns.names.get(c), columns.types.get(c), columns.values.get(c));
      }
      sheet.label = columns.label;
      for (int r = 0; r < rows; r++) {
        double[] row = new double[columns.names.size()];
        for (int c = 0; c < row.length; c++) {
          List<String> values = columns.values.get(c);
          boolean label = c == row.length - 1;
          row[c] = !label && random.nextDouble() < missing ? Double.NaN
              : values != null ? random.nextInt(values.size())
              : columns.types.get(c).equals("integer") || distinct > 0 ? random.nextInt(Math.max(distinct, 4)) - 1
              : random.nextGaussian();
        }
        sheet.rows.add(row);
      }
      return sheet;
    }
  }
}
