// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.DoubleBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;

/**
 * Moves rows through a session in blocks. There are two buffers: the operator's thread fills one while the worker's
 * thread uses the other. No more of the table than two blocks is copied on the Java side. Every few hundred rows the
 * worker may look whether to go on.
 */
public final class Blocks {
  private static final int ROWS_BETWEEN_LOOKS = 256;
  /** Tables grow by blocks of any size, so small ones do. Validations load hundreds of tables. */
  private static final long LOAD_BYTES = 4L << 20;

  private Blocks() {}

  /** Takes the results of a block, on the operator's thread and in the order of the rows. */
  public interface Results {
    /** Takes the rows of a block's table from {@code first} up to and without {@code end}. */
    void take(ResultTable table, int first, int end);
  }

  /** How many rows there are (0: not known), the most bytes of a buffer, and whether the blocks are the progress. */
  private static final class Size {
    private final long rows;
    private final long maxBytes;
    private final boolean shown;

    Size(long rows, long maxBytes, boolean shown) {
      this.rows = rows;
      this.maxBytes = maxBytes;
      this.shown = shown;
    }

    /** One row more than there are: the first block then sees the end of a small table. */
    int bufferRows(int blockRows) {
      return rows > 0 ? (int) Math.min(blockRows, rows + 1) : blockRows;
    }
  }

  private interface Use<T> {
    T block(BlockBuffer buffer, int rows) throws Exception;
  }

  private interface Taken<T> {
    void take(T result) throws Exception;
  }

  /** Fills a new table of the session. {@code expectedRows} 0 means that the number is not known. */
  public static RowSink load(Worker worker, List<ColumnHeader> columns, BlockSource source, long expectedRows)
      throws Exception {
    final RowSink sink = worker.session().rows(columns, expectedRows);
    boolean complete = false;
    try {
      each(worker, source, new Size(expectedRows, LOAD_BYTES, false), new Use<Void>() {
        @Override
        public Void block(BlockBuffer buffer, int rows) throws Exception {
          sink.append(buffer.bytes(), rows);
          return null;
        }
      }, new Taken<Void>() {
        @Override
        public void take(Void nothing) {}
      });
      complete = true;
      return sink;
    } finally {
      if (!complete) {
        sink.close();
      }
    }
  }

  /** Loads a second table. A failure closes the first one: no job will take it. */
  public static RowSink second(RowSink first, Callable<RowSink> load) throws Exception {
    boolean complete = false;
    try {
      RowSink loaded = load.call();
      complete = true;
      return loaded;
    } finally {
      if (!complete) {
        first.close();
      }
    }
  }

  /** Applies a model to all rows. {@code totalRows} is for the progress and the buffers; 0 if it is not known. */
  public static void apply(final Worker worker, final FittedModel model, BlockSource source, long totalRows,
      final Map<String, String> options, final Results results) throws Exception {
    each(worker, source, new Size(totalRows, BlockBuffer.MAX_BYTES, true), new Use<ResultTable>() {
      @Override
      public ResultTable block(BlockBuffer buffer, int rows) throws Exception {
        return model.apply(worker.session(), buffer.bytes(), rows, options);
      }
    }, new Taken<ResultTable>() {
      @Override
      public void take(ResultTable table) throws Exception {
        for (int row = 0; row < table.rows(); row += ROWS_BETWEEN_LOOKS) {
          worker.lookIfDue();
          results.take(table, row, Math.min(table.rows(), row + ROWS_BETWEEN_LOOKS));
        }
      }
    });
  }

  private static <T> void each(Worker worker, BlockSource source, Size size, final Use<T> use, Taken<T> taken)
      throws Exception {
    int bufferRows = size.bufferRows(worker.session().blockRows());
    BlockBuffer filling = new BlockBuffer(bufferRows, source.columns(), size.maxBytes);
    BlockBuffer idle = null;
    boolean ended = false;
    Future<T> running = null;
    long begun = 0;
    try {
      while (true) {
        final int rows = ended ? 0 : fill(worker, source, filling);
        ended = rows < filling.capacity();
        Future<T> finished = running;
        T result = null;
        if (finished != null) {
          running = null;
          result = worker.await(finished);
        }
        if (rows > 0) {
          final BlockBuffer full = filling;
          running = worker.start(new Callable<T>() {
            @Override
            public T call() throws Exception {
              return use.block(full, rows);
            }
          });
          if (size.shown && size.rows > 0) {
            worker.part((double) begun / size.rows, (double) (begun + rows) / size.rows);
          }
          begun += rows;
          if (!ended) {
            filling = idle != null ? idle : new BlockBuffer(bufferRows, source.columns(), size.maxBytes);
            idle = full;
          }
        }
        if (finished != null) {
          taken.take(result);
        }
        if (rows == 0) {
          return;
        }
      }
    } finally {
      if (running != null) {
        settle(worker, running);
      }
    }
  }

  /** Fills the buffer and says with how many rows; fewer than fit only at the end of the source. */
  private static int fill(Worker worker, BlockSource source, BlockBuffer buffer) throws Exception {
    DoubleBuffer to = buffer.rewound();
    int rows = 0;
    while (rows < buffer.capacity()) {
      worker.lookIfDue();
      int more = source.next(to, Math.min(ROWS_BETWEEN_LOOKS, buffer.capacity() - rows));
      if (more == 0) {
        break;
      }
      rows += more;
    }
    return rows;
  }

  // A failure elsewhere leaves a block under way. Its buffers must outlive it, also where the thread is interrupted.
  private static void settle(Worker worker, Future<?> running) {
    worker.session().cancel();
    Worker.waitForEnd(running);
  }
}
