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
    System.out.println("  " + runs + " runs, " + pairs + " pairs, " + failures + " different");
    return failures;
  }

  private static ExampleSet distances(String operator, Map<String, String> parameters, boolean nominal)
      throws Exception {
    String xml = Processes.process(Processes.operator(operator, "distances", parameters, ""),
        Processes.connect("input 1", "distances.request set"), Processes.connect("input 2", "distances.reference set"),
        Processes.connect("distances.result set", "result 1"));
    ExampleSet requests = nominal ? sheet(1, 20, "red", "green").set() : sheet(1, 20).set();
    ExampleSet references = nominal ? sheet(2, 30, "green", "blue", "red").set() : sheet(2, 30).set();
    return Processes.run(xml, requests, references).get(ExampleSet.class);
  }

  private static long compare(Map<String, String> parameters, boolean rounded, ExampleSet theirs, ExampleSet ours) {
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
