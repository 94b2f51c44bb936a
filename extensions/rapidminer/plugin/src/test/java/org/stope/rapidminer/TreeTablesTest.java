// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Leaves count in int: fractional weights keep their shares. */
final class TreeTablesTest {
  @Test
  void countsOfExamplesStayAsTheyAre() {
    assertArrayEquals(new int[] {7, 0, 3}, TreeTables.counts(new double[] {7, 0, 3}));
    assertArrayEquals(new int[] {0, 0}, TreeTables.counts(new double[] {0, 0}));
  }

  @Test
  void sharesOfFractionalAndHugeWeightsAreRight() {
    for (double[] weights : new double[][] {{0.05, 0.1}, {0.3, 1e-7}, {1e-9, 2e-9}, {1.0 / 3, 5, 0.1}, {4e9, 1e9},
        {1e18, 2e18, 0.5}}) {
      int[] counts = TreeTables.counts(weights);
      double sum = 0;
      int all = 0;
      for (int c = 0; c < weights.length; c++) {
        sum += weights[c];
        all += counts[c];
      }
      assertTrue(all > 0, "the counts overflow");
      for (int c = 0; c < weights.length; c++) {
        assertEquals(weights[c] / sum, (double) counts[c] / all, 1e-6);
      }
    }
  }
}
