// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The garbage collector is called for models that nobody uses, and seldom for models that are in use. */
final class NativeMemoryTest {
  @Test
  void modelsInUseCostFewCalls() {
    AtomicInteger calls = new AtomicInteger();
    NativeMemory memory = new NativeMemory(100, calls::incrementAndGet);
    List<Object> models = new ArrayList<Object>();
    for (int i = 0; i < 1000; i++) {
      models.add(new Object());
      memory.add(models.get(i), 10);
    }
    assertEquals(1000, models.size());
    // At 110, 230, 470, 950, 1,910, 3,830 and 7,670 bytes.
    assertEquals(7, calls.get());
  }

  @Test
  void modelsThatNobodyUsesAreCollectedAgainAndAgain() {
    AtomicInteger calls = new AtomicInteger();
    NativeMemory memory = new NativeMemory(100, () -> {
      calls.incrementAndGet();
      System.gc();
      try {
        Thread.sleep(20);  // references are queued by a thread of Java's own
      } catch (InterruptedException error) {
        throw new IllegalStateException(error);
      }
    });
    for (int i = 0; i < 200; i++) {
      memory.add(new Object(), 10);
    }
    assertTrue(calls.get() >= 10, "only " + calls.get() + " calls");
  }
}
