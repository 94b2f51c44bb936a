// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.File;
import java.util.List;
import org.junit.jupiter.api.Test;
import weka.core.Instances;

/** StopeIBk against IBk over IBk's options. */
class IBkOptionsTest {
  private static final String[] VOTES = {
    "-K 1 -W 0", "-K 3 -W 0", "-K 5 -W 0 -I", "-K 4 -W 0 -F", "-K 7 -W 20", "-K 6 -W 0 -X", "-K 5 -W 0 -X -I -E", "-K 1000 -W 0",
  };

  private static void compareAll(Instances table) throws Exception {
    for (String votes : VOTES) {
      IBkComparison.compare(table, votes);
    }
    for (String search : IBkComparison.SEARCHES) {
      IBkComparison.compare(table, "-K 3 -W 0 -I " + IBkComparison.linear(search));
    }
    IBkComparison.compare(table, "-K 2 -W 0 -F -A \"weka.core.neighboursearch.LinearNNSearch -S\"");
  }

  @Test
  void randomTablesGiveTheDistributionsOfIBk() throws Exception {
    for (int seed = 0; seed < 16; seed++) {
      Tables.Shape shape = new Tables.Shape();
      shape.rows = 40 + 37 * (seed % 5);
      shape.missing = seed % 2 == 0 ? 0 : 0.1;
      shape.numericClass = seed % 3 == 0;
      shape.weighted = seed % 4 >= 2;
      shape.coarse = seed % 8 >= 4;
      shape.odd = seed % 5 == 4;
      shape.nominal = seed % 7 == 6 ? 0 : 2;
      compareAll(Tables.random(shape, seed));
    }
  }

  @Test
  void samplesOfWekaGiveTheDistributionsOfIBk() throws Exception {
    List<File> files = Tables.samples("iris", "weather.nominal", "weather.numeric", "cpu", "cpu.with.vendor", "contact-lenses", "labor",
        "glass", "vote", "diabetes", "ionosphere", "soybean", "breast-cancer", "unbalanced", "credit-g");
    assumeFalse(files.isEmpty(), "WEKA's sample tables are not installed (Debian: weka; Maven: -Dweka.examples=FOLDER)");
    for (File file : files) {
      compareAll(Tables.thinned(Tables.read(file), 240));
    }
  }

  @Test
  void tablesOfTheProjectGiveTheDistributionsOfIBk() throws Exception {
    List<File> files = Tables.shared("anneal.orig", "credit.a", "heart.c", "heart.h", "hepatitis", "mushroom");
    assumeFalse(files.isEmpty(), "the shared tables are not there (Maven: -Dstope.shared=FOLDER)");
    for (File file : files) {
      compareAll(Tables.thinned(Tables.read(file), 240));
    }
  }
}
