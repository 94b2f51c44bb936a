// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.Random;

/** Cross Distances (stope) gives the built-in operator's table: same pairs, same order, same bits. */
final class CrossDistanceRuns {
  private CrossDistanceRuns() {}

  private static Sheet sheet(long seed, int rows, String... colours) {
    Random random = new Random(seed);
    Sheet sheet = new Sheet();
    sheet.column("x", "real", null);
    sheet.column("y", "real", null);
    if (colours.length > 0) {
      sheet.column("colour", "polynominal", Arrays.asList(colours));
    }
    for (int r = 0; r < rows; r++) {
      double[] row = {random.nextInt(5) + 1, random.nextInt(12) == 0 ? Double.NaN : random.nextGaussian(), 0};
      row[2] = colours.length > 0 ? random.nextInt(colours.length) : 0;
      sheet.rows.add(colours.length > 0 ? row : Arrays.copyOf(row, 2));
    }
    return sheet;
  }

  static long run() throws Exception {
    long failures = 0;
    long pairs = 0;
    int runs = 0;
    for (boolean nominal : new boolean[] {false, true}) {
      for (String measure : nominal ? new String[] {"MixedEuclideanDistance"}
          : new String[] {"EuclideanDistance", "ManhattanDistance", "CosineSimilarity", "InnerProductSimilarity"}) {
        for (String[] search : new String[][] {{"false", "nearest"}, {"true", "nearest"}, {"true", "farthest"}}) {
          for (String similarities : new String[] {"false", "true"}) {
            Map<String, String> parameters = Processes.parameters("measure_types",
                nominal ? "MixedMeasures" : "NumericalMeasures", nominal ? "mixed_measure" : "numerical_measure",
                measure,
                "only_top_k", search[0], "k", "4", "search_for", search[1], "compute_similarities", similarities);
            ExampleSet theirs = distances("cross_distances", parameters, nominal);
            ExampleSet ours = distances("stope:cross_distances", parameters, nominal);
            failures += compare(parameters, measure.equals("CosineSimilarity"), theirs, ours);
            pairs += theirs.size();
            runs++;
          }
        }
      }
    }
    for (Object[] odd : odd()) {
      @SuppressWarnings("unchecked")
      Map<String, String> parameters = (Map<String, String>) odd[0];
      ExampleSet theirs =
          distances("cross_distances", parameters, ((Sheet) odd[1]).set(), ((Sheet) odd[2]).set());
      ExampleSet ours =
          distances("stope:cross_distances", parameters, ((Sheet) odd[1]).set(), ((Sheet) odd[2]).set());
      failures += compare(parameters, false, theirs, ours);
      pairs += theirs.size();
      runs++;
    }
    System.out.println("  " + runs + " runs, " + pairs + " pairs, " + failures + " different");
    return failures;
  }

  /** Measures for attributes of another type, attributes of two types, and sets without examples. */
  private static Object[][] odd() {
    Map<String, String> euclid =
        Processes.parameters("measure_types", "NumericalMeasures", "numerical_measure", "EuclideanDistance");
    Map<String, String> manhattan = Processes.parameters("measure_types", "NumericalMeasures", "numerical_measure",
        "ManhattanDistance", "only_top_k", "true", "k", "3");
    Map<String, String> mixed = Processes.parameters("measure_types", "MixedMeasures");
    Map<String, String> equal =
        Processes.parameters("measure_types", "NominalMeasures", "nominal_measure", "NominalDistance");
    Sheet numbers = sheet(5, 12, "red", "green");
    numbers.types.set(2, "real");
    numbers.values.set(2, null);
    for (int r = 0; r < numbers.rows.size(); r++) {
      numbers.rows.get(r)[2] = r % 3 == 2 ? 0.5 : r % 3;
    }
    Sheet nominal = sheet(4, 9, "red", "green");
    Sheet none = sheet(4, 0, "red", "green");
    return new Object[][] {{euclid, nominal, sheet(6, 7, "green", "blue", "red")}, {manhattan, nominal, numbers},
        {mixed, nominal, numbers}, {mixed, numbers, nominal}, {equal, sheet(1, 8), sheet(2, 9)},
        {equal, nominal, numbers}, {equal, numbers, nominal}, {mixed, none, nominal}, {mixed, nominal, none},
        {mixed, none, none}, {mixed, none, sheet(2, 9)}, {manhattan, sheet(2, 9), none}};
  }

  private static ExampleSet distances(String operator, Map<String, String> parameters, boolean nominal)
      throws Exception {
    return distances(operator, parameters, nominal ? sheet(1, 20, "red", "green").set() : sheet(1, 20).set(),
        nominal ? sheet(2, 30, "green", "blue", "red").set() : sheet(2, 30).set());
  }

  private static ExampleSet distances(String operator, Map<String, String> parameters, ExampleSet requests,
      ExampleSet references) throws Exception {
    String xml = Processes.process(Processes.operator(operator, "distances", parameters, ""),
        Processes.connect("input 1", "distances.request set"), Processes.connect("input 2", "distances.reference set"),
        Processes.connect("distances.result set", "result 1"));
    return Processes.run(xml, requests, references).get(ExampleSet.class);
  }

  private static long compare(Map<String, String> parameters, boolean rounded, ExampleSet theirs, ExampleSet ours) {
    if (theirs.size() != ours.size()) {
      System.out.println("  DIFFERENT " + parameters + " " + theirs.size() + " pairs became " + ours.size());
      return 1;
    }
    Iterator<Example> others = ours.iterator();
    int row = 0;
    for (Example example : theirs) {
      Example other = others.next();
      for (Attribute attribute : theirs.getAttributes()) {
        double a = example.getValue(attribute);
        double b = other.getValue(ours.getAttributes().get(attribute.getName()));
        boolean same = Double.doubleToLongBits(a) == Double.doubleToLongBits(b)
            || rounded && (!attribute.getName().equals("distance") || Math.abs(a - b) <= 1e-9);
        if (!same) {
          System.out.println("  DIFFERENT " + parameters + " row " + row + " " + attribute.getName() + " " + a
              + " became " + b);
          return 1;
        }
      }
      row++;
    }
    return others.hasNext() ? 1 : 0;
  }
}
