// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import weka.classifiers.lazy.StopeIBk;
import weka.core.Instances;

class HeldMemoryTest {
  @Test
  void theCollectorIsCalledWhenWhatIsHeldHasDoubled() {
    int[] calls = {0};
    HeldMemory memory = new HeldMemory(100, () -> calls[0]++);
    Object[] holders = new Object[8];
    for (int i = 0; i < holders.length; i++) {
      holders[i] = new Object();
      memory.add(holders[i], 60);
    }
    assertEquals(480, memory.bytes());
    assertEquals(2, calls[0]); // at 120 and at 300, not at every one
    assertTrue(holders[0] != null);
  }

  @Test
  void classifiersThatNobodyUsesHoldNoMemory() throws Exception {
    Tables.Shape shape = new Tables.Shape();
    shape.rows = 2000;
    Instances table = Tables.random(shape, 1);
    long before = HeldMemory.INSTANCE.bytes();
    long most = 0;
    for (int i = 0; i < 20; i++) {
      StopeIBk classifier = new StopeIBk();
      classifier.buildClassifier(table);
      classifier.distributionsForInstances(Tables.thinned(table, 20));
      most = Math.max(most, HeldMemory.INSTANCE.bytes());
    }
    assertTrue(most > before, "nothing was counted");
    for (int i = 0; i < 50 && HeldMemory.INSTANCE.bytes() > before + most / 4; i++) {
      System.gc();
      Thread.sleep(20);
    }
    assertTrue(HeldMemory.INSTANCE.bytes() <= before + most / 4, HeldMemory.INSTANCE.bytes() + " of " + most);
  }
}
