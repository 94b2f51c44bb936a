// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.stope.Neighbors;
import weka.core.DistanceFunction;
import weka.core.Instances;
import weka.core.NormalizableDistance;
import weka.core.Utils;

/** The engine's distance of encoded rows against WEKA's distance of the rows, for every pair. */
class EncodingTest {
  private static final double ROUNDING = 1e-9; // far below what NeighborFinder allows for

  private static NormalizableDistance distance(String words, Instances training) throws Exception {
    String[] options = Utils.splitOptions(words);
    String name = options[0];
    options[0] = "";
    NormalizableDistance distance = (NormalizableDistance) Utils.forName(DistanceFunction.class, name, options);
    distance.setInstances(training);
    return distance;
  }

  private static void compare(Instances table, String words) throws Exception {
    Instances training = Tables.half(table, 0);
    Instances queries = Tables.half(table, 1);
    NormalizableDistance distance = distance(words, training);
    boolean[] all = new boolean[table.numAttributes()];
    Arrays.fill(all, true);
    Encoding encoding = new Encoding(distance, training, all, all);
    int n = training.numInstances();
    try (HeldIndex index = HeldIndex.of(encoding, training, new OptionValues())) {
      Neighbors lists = index.search(queries, n, new OptionValues());
      for (int i = 0; i < lists.indices().length; i++) {
        int row = (int) lists.indices()[i];
        double expected = distance.distance(training.instance(row), queries.instance(i / n));
        assertEquals(expected, lists.distances()[i], ROUNDING * Math.max(1, expected), words + ", row " + row);
      }
    }
  }

  @Test
  void distancesOfTheEngineAreWekasButForRounding() throws Exception {
    for (int seed = 0; seed < 8; seed++) {
      Tables.Shape shape = new Tables.Shape();
      shape.rows = 60;
      shape.nominal = 3;
      shape.missing = seed < 2 ? 0 : 0.3;
      shape.odd = seed % 2 == 1;
      shape.coarse = seed % 4 >= 2;
      for (String words : IBkComparison.SEARCHES) {
        compare(Tables.random(shape, seed), words);
      }
    }
  }

  @Test
  void nominalAttributesOfTooManyValuesMakeNoIndex() throws Exception {
    Tables.Shape shape = new Tables.Shape();
    shape.rows = 40;
    Instances table = Tables.random(shape, 1);
    java.util.ArrayList<String> values = new java.util.ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      values.add("v" + i);
    }
    table.insertAttributeAt(new weka.core.Attribute("many", values), 0);
    for (int i = 0; i < table.numInstances(); i++) {
      table.instance(i).setValue(0, i % 7 * 700);
    }
    boolean[] none = new boolean[table.numAttributes()];
    assertTrue(new Encoding(distance("weka.core.ManhattanDistance -R first-last", table), table, none, none).tooWide());
    assertTrue(!new Encoding(distance("weka.core.EuclideanDistance -R first-last", table), table, none, none).tooWide());
    IBkComparison.compare(table, "-K 3 -I " + IBkComparison.linear("weka.core.ManhattanDistance -R first-last"));
  }
}
