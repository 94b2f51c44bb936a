// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import org.junit.jupiter.api.Test;

/** Scores do not take the name of an attribute that stays. */
final class PcaModelTest {
  @Test
  void namesOfScoresAreFree() {
    assertEquals("pc_1", PcaModel.scoreName(1, Collections.<String>emptySet()));
    assertEquals("pc_1__", PcaModel.scoreName(1, new HashSet<String>(Arrays.asList("pc_1", "pc_1_"))));
  }
}
