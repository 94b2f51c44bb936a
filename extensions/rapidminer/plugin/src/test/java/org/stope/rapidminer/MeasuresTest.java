// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.stope.Stope;

/** RapidMiner's measures and stope's names for them. */
final class MeasuresTest {
  @Test
  void all29MeasuresHaveNamesOfTheirOwn() {
    assertEquals(29, Measures.all().size());
    assertEquals(29, new HashSet<String>(Measures.all().values()).size());
  }

  @Test
  void classesAreFoundWithTheirPackages() {
    assertEquals("euclidean", Measures.metricOf("com.rapidminer.tools.math.similarity.numerical.EuclideanDistance"));
    assertEquals("nominal-dice", Measures.metricOf("x.DiceNominalSimilarity"));
    assertEquals("dice-similarity", Measures.metricOf("x.DiceNumericalSimilarity"));
    assertNull(Measures.metricOf("org.example.OtherDistance"));
  }

  @Test
  void theEngineKnowsEveryName() {
    String missing = Stope.unavailableBecause();
    Assumptions.assumeTrue(missing == null || missing.isEmpty(), "SKIP the engine's names: " + missing);
    String known = Stope.metrics().replaceAll("\\s", "");
    for (String metric : Measures.all().values()) {
      assertTrue(known.contains("\"name\":\"" + metric + "\""), metric);
    }
  }

  @Test
  void onlyTwoMeasuresTakeAnUnknownValueAsOneThatDiffers() {
    assertTrue(Measures.skipsMissingNominal("mixed-euclidean"));
    assertTrue(Measures.skipsMissingNominal("nominal-distance"));
    assertFalse(Measures.skipsMissingNominal("simple-matching"));
  }
}
