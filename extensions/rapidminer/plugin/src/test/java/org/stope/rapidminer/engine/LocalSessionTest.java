// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.stope.StopeException;

/** A job that lacks memory is tried once more; other failures leave at once. */
final class LocalSessionTest {
  @Test
  void shortMemoryGetsASecondChance() {
    AtomicInteger tries = new AtomicInteger();
    assertEquals("done", LocalSession.withMemory(() -> {
      if (tries.incrementAndGet() == 1) {
        throw new StopeException(StopeException.Code.OUT_OF_MEMORY, "short");
      }
      return "done";
    }));
    assertEquals(2, tries.get());
  }

  @Test
  void onlyOneAndOnlyForMemory() {
    for (StopeException.Code code : new StopeException.Code[] {StopeException.Code.OUT_OF_MEMORY,
        StopeException.Code.INTERNAL}) {
      AtomicInteger tries = new AtomicInteger();
      assertThrows(StopeException.class, () -> LocalSession.withMemory(() -> {
        tries.incrementAndGet();
        throw new StopeException(code, "no");
      }));
      assertEquals(code == StopeException.Code.OUT_OF_MEMORY ? 2 : 1, tries.get());
    }
  }
}
