// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rows pass through two buffers in order and whole, read by one thread and used by another. */
final class BlocksTest {
  private static final Settings AUTO = new Settings(Settings.Device.AUTO, "", "");
  private static final Watch NOBODY_STOPS = new Watch() {
    @Override
    public void look(Progress progress) {}
  };

  /** RapidMiner's views: after the end they begin to say that there is one more row. */
  private static final class EndsOnce implements BlockSource {
    private int calls;

    @Override
    public int columns() {
      return 2;
    }

    @Override
    public int next(DoubleBuffer to, int most) {
      calls++;
      assertTrue(calls < 5, "read again after the end");
      if (calls == 3) {
        return 0;
      }
      to.put(calls).put(calls);
      return 1;
    }
  }

  @Test
  void aSourceIsNotReadAgainAfterItsEnd() throws Exception {
    for (int rows : new int[] {0, 2}) {
      FakeEngine engine = new FakeEngine();
      EndsOnce source = new EndsOnce();
      try (Worker worker = new Worker(engine.open(AUTO), NOBODY_STOPS)) {
        Blocks.load(worker, columns(), source, rows).close();
      }
      assertEquals(3, source.calls);
      assertEquals(2, engine.rows.size());
    }
  }

  @Test
  void smallTablesGetOneSmallBuffer() throws Exception {
    FakeEngine engine = new FakeEngine();
    engine.blockRows = 4096;
    for (int rows : new int[] {1, 3}) {
      try (Worker worker = new Worker(engine.open(AUTO), NOBODY_STOPS)) {
        Blocks.load(worker, columns(), new CountedRows(rows), rows).close();
      }
    }
    assertEquals(Arrays.asList(2 * 16, 4 * 16), engine.blockBytes);
  }

  @Test
  void anInterruptSurvivesAFailure() throws Exception {
    FakeEngine engine = new FakeEngine();
    engine.blockRows = 4;
    BlockSource source = new BlockSource() {
      private int blocks;

      @Override
      public int columns() {
        return 2;
      }

      @Override
      public int next(DoubleBuffer to, int most) {
        if (blocks++ == 4) {
          Thread.currentThread().interrupt();
          throw new IllegalStateException("the source fails");
        }
        to.put(1).put(1);
        return 1;
      }
    };
    try (final Worker worker = new Worker(engine.open(AUTO), NOBODY_STOPS)) {
      assertThrows(IllegalStateException.class, () -> Blocks.load(worker, columns(), source, 50));
      assertTrue(Thread.interrupted(), "the interrupt is lost");
    }
    assertEquals(1, engine.blocks.size());
  }

  private static List<ColumnHeader> columns() {
    return Arrays.asList(ColumnHeader.real("a", ColumnHeader.Role.REGULAR),
        ColumnHeader.real("b", ColumnHeader.Role.REGULAR));
  }

  @Test
  void tablesArriveRowByRowWhateverTheirLength() throws Exception {
    for (int rows : new int[] {0, 1, 3, 4, 5, 8, 9, 101}) {
      FakeEngine engine = new FakeEngine();
      CountedRows source = new CountedRows(rows);
      try (Worker worker = new Worker(engine.open(AUTO), NOBODY_STOPS)) {
        Blocks.load(worker, columns(), source, rows).close();
      }
      assertEquals(rows, engine.rows.size());
      for (int r = 0; r < rows; r++) {
        assertArrayEquals(new double[] {r, 10.0 * r}, engine.rows.get(r));
      }
      assertEquals((rows + 3) / 4, engine.blocks.size());
    }
  }

  @Test
  void theOperatorsThreadReadsAndAnotherOneComputes() throws Exception {
    FakeEngine engine = new FakeEngine();
    CountedRows source = new CountedRows(20);
    try (Worker worker = new Worker(engine.open(AUTO), NOBODY_STOPS)) {
      Blocks.load(worker, columns(), source, 20).close();
    }
    assertSame(Thread.currentThread(), source.reader);
    assertNotSame(Thread.currentThread(), engine.threads.get(0));
  }

  @Test
  void resultsComeInTheOrderOfTheRows() throws Exception {
    FakeEngine engine = new FakeEngine();
    final List<Double> sums = new ArrayList<Double>();
    try (final Worker worker = new Worker(engine.open(AUTO), NOBODY_STOPS)) {
      FittedModel model = worker.session().load(new byte[0]);
      Map<String, String> none = Collections.emptyMap();
      Blocks.apply(worker, model, new CountedRows(11), 11, none, new Blocks.Results() {
        @Override
        public void take(ResultTable table, int first, int end) {
          for (int row = first; row < end; row++) {
            sums.add(table.column("prediction")[row]);
          }
        }
      });
    }
    assertEquals(11, sums.size());
    for (int r = 0; r < 11; r++) {
      assertEquals(11.0 * r, sums.get(r));
    }
    assertEquals(Arrays.asList(4, 4, 3), engine.blocks);
  }

  @Test
  void aBadBlockEndsTheWorkAndClosesTheTable() throws Exception {
    FakeEngine engine = new FakeEngine();
    engine.failAtBlock = 1;
    try (final Worker worker = new Worker(engine.open(AUTO), NOBODY_STOPS)) {
      EngineException error = assertThrows(EngineException.class,
          () -> Blocks.load(worker, columns(), new CountedRows(50), 50));
      assertEquals("block 1 is bad", error.getMessage());
    }
    assertTrue(engine.calls.contains("close sink"));
    assertTrue(engine.calls.contains("close"));
  }

  @Test
  void theFirstTableIsClosedIfTheSecondFails() throws Exception {
    FakeEngine engine = new FakeEngine();
    engine.failAtBlock = 1;
    try (final Worker worker = new Worker(engine.open(AUTO), NOBODY_STOPS)) {
      RowSink first = Blocks.load(worker, columns(), new CountedRows(4), 4);
      assertThrows(EngineException.class,
          () -> Blocks.second(first, () -> Blocks.load(worker, columns(), new CountedRows(4), 4)));
    }
    assertEquals(2, Collections.frequency(engine.calls, "close sink"));
  }

  @Test
  void progressIsThatOfAllRows() {
    Progress half = new Progress("search", 1, 2).within(0.25, 0.75);
    assertEquals(0.5, half.share());
    assertEquals("search", half.phase());
    assertEquals(0.25, Progress.NONE.within(0.25, 0.75).share());
  }

  @Test
  void veryWideRowsGetShortBlocks() {
    assertEquals(4096, new BlockBuffer(4096, 10, 64 << 20).capacity());
    assertEquals(8, new BlockBuffer(4096, 1 << 20, 64 << 20).capacity());
    assertEquals(1, new BlockBuffer(4096, 1 << 24, 64 << 20).capacity());
  }
}
