// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A job is looked at while it runs, and can be stopped. */
final class WorkerTest {
  private static final Settings AUTO = new Settings(Settings.Device.AUTO, "", "");

  private static final class Stop extends Exception {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void theWatchsExceptionCancelsTheJobAndLeavesAfterItsEnd() {
    FakeEngine engine = new FakeEngine();
    engine.hang = true;
    final AtomicInteger looks = new AtomicInteger();
    final Thread[] looker = new Thread[1];
    final Stop stop = new Stop();
    final Worker worker = new Worker(engine.open(AUTO), new Watch() {
      @Override
      public void look(Progress progress) throws Stop {
        looker[0] = Thread.currentThread();
        assertEquals(0.25, progress.share());
        if (looks.incrementAndGet() == 2) {
          throw stop;
        }
      }
    });
    long before = System.nanoTime();
    Stop thrown = assertThrows(Stop.class, () -> worker.run(() -> worker.session().fit("classify",
        worker.session().rows(Collections.<ColumnHeader>emptyList(), 0), Collections.<String, String>emptyMap())));
    worker.close();
    assertSame(stop, thrown);
    assertSame(Thread.currentThread(), looker[0]);
    assertTrue(engine.calls.contains("cancel"));
    assertTrue(System.nanoTime() - before < 1_000_000_000L, "stopping took more than a second");
  }

  @Test
  void manyShortBlocksAreStoppedToo() {
    for (int where = 0; where < 3; where++) {
      final int slow = where;
      FakeEngine engine = new FakeEngine();
      final Stop stop = new Stop();
      final AtomicInteger looks = new AtomicInteger();
      final Worker worker = new Worker(engine.open(AUTO), new Watch() {
        @Override
        public void look(Progress progress) throws Stop {
          if (looks.incrementAndGet() == 2) {
            throw stop;
          }
        }
      });
      BlockSource source = new BlockSource() {
        private int rows;

        @Override
        public int columns() {
          return 2;
        }

        @Override
        public int next(java.nio.DoubleBuffer to, int most) {
          pause(slow == 0);
          to.put(rows).put(rows);
          return rows++ < 4000 ? 1 : 0;
        }
      };
      long before = System.nanoTime();
      Stop thrown = assertThrows(Stop.class, () -> {
        if (slow == 1) {
          for (int call = 0; call < 1000; call++) {
            worker.run(() -> pause(true));
          }
        } else {
          Blocks.apply(worker, worker.session().load(new byte[0]), source, 4000,
              Collections.<String, String>emptyMap(), (table, first, end) -> pause(slow == 2));
        }
      });
      worker.close();
      assertSame(stop, thrown);
      assertTrue(System.nanoTime() - before < 1_000_000_000L, "stopping took more than a second: " + slow);
    }
  }

  private static Void pause(boolean really) {
    if (really) {
      try {
        Thread.sleep(1);
      } catch (InterruptedException error) {
        throw new IllegalStateException(error);
      }
    }
    return null;
  }

  @Test
  void aFailureOfTheJobLeavesAsItIs() throws Exception {
    FakeEngine engine = new FakeEngine();
    try (final Worker worker = new Worker(engine.open(AUTO), progress -> { })) {
      EngineException error = new EngineException(EngineException.Kind.MEMORY, "too little", null, 5);
      assertSame(error, assertThrows(EngineException.class, () -> worker.run(() -> {
        throw error;
      })));
    }
    List<String> calls = engine.calls;
    assertEquals("close", calls.get(calls.size() - 1));
  }
}
