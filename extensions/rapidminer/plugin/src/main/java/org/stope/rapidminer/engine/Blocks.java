// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;

/**
 * Moves rows through a session in blocks. There are two buffers: the operator's thread fills one while the worker's
 * thread uses the other. No more of the table than two blocks is copied on the Java side.
 */
public final class Blocks {
  private Blocks() {}

  /** Takes the results of a block, on the operator's thread and in the order of the rows. */
  public interface Results {
    void take(ResultTable table);
  }

  private interface Use<T> {
    T block(BlockBuffer buffer, int rows) throws Exception;
  }

  private interface Taken<T> {
    void take(T result);
  }

  /** Fills a new table of the session. {@code expectedRows} 0 means that the number is not known. */
  public static RowSink load(Worker worker, List<ColumnHeader> columns, BlockSource source, long expectedRows)
      throws Exception {
    final RowSink sink = worker.session().rows(columns, expectedRows);
    boolean complete = false;
    try {
      each(worker, source, new Use<Void>() {
        @Override
        public Void block(BlockBuffer buffer, int rows) throws Exception {
          sink.append(buffer.bytes(), rows);
          return null;
        }
      }, new Taken<Void>() {
        @Override
        public void take(Void nothing) {}
      }, 0);
      complete = true;
      return sink;
    } finally {
      if (!complete) {
        sink.close();
      }
    }
  }

  /** Applies a model to all rows. {@code totalRows} is for the progress; 0 if it is not known. */
  public static void apply(final Worker worker, final FittedModel model, BlockSource source, long totalRows,
      final Map<String, String> options, final Results results) throws Exception {
    each(worker, source, new Use<ResultTable>() {
      @Override
      public ResultTable block(BlockBuffer buffer, int rows) throws Exception {
        return model.apply(worker.session(), buffer.bytes(), rows, options);
      }
    }, new Taken<ResultTable>() {
      @Override
      public void take(ResultTable table) {
        results.take(table);
      }
    }, totalRows);
  }

  private static <T> void each(Worker worker, BlockSource source, final Use<T> use, Taken<T> taken, long totalRows)
      throws Exception {
    int blockRows = worker.session().blockRows();
    BlockBuffer filling = new BlockBuffer(blockRows, source.columns());
    BlockBuffer idle = null;
    Future<T> running = null;
    long begun = 0;
    try {
      while (true) {
        final int rows = source.next(filling.rewound(), filling.capacity());
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
          if (totalRows > 0) {
            worker.part((double) begun / totalRows, (double) (begun + rows) / totalRows);
          }
          begun += rows;
          filling = idle != null ? idle : new BlockBuffer(blockRows, source.columns());
          idle = full;
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

  // A failure elsewhere leaves a block under way. Its buffers must outlive it.
  private static void settle(Worker worker, Future<?> running) {
    worker.session().cancel();
    try {
      running.get();
    } catch (Exception secondFailure) {
      // The first one is on its way to the user.
    }
  }
}
