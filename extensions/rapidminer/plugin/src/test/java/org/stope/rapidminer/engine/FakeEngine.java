// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * An engine that keeps the rows that it gets, and whose model predicts the sum of a row. It stands for the library and
 * for a server: what it holds has gone through the interface alone.
 */
final class FakeEngine implements Engine {
  final List<double[]> rows = new ArrayList<double[]>();
  final List<Integer> blocks = new ArrayList<Integer>();
  final List<String> calls = Collections.synchronizedList(new ArrayList<String>());
  final List<Thread> threads = Collections.synchronizedList(new ArrayList<Thread>());
  final List<Integer> blockBytes = new ArrayList<Integer>();
  int blockRows = 4;
  int failAtBlock = -1;
  volatile boolean hang;
  private final CountDownLatch cancelled = new CountDownLatch(1);

  @Override
  public EngineSession open(Settings settings) {
    return new Session();
  }

  private final class Session implements EngineSession {
    @Override
    public int blockRows() {
      return blockRows;
    }

    @Override
    public RowSink rows(List<ColumnHeader> columns, long expectedRows) {
      return new Sink(columns.size());
    }

    @Override
    public FittedModel fit(String kind, RowSink sink, Map<String, String> options) throws EngineException {
      calls.add("fit " + kind + " " + options);
      sink.close();
      if (hang) {
        waitForCancel();
      }
      return new SumModel();
    }

    private void waitForCancel() throws EngineException {
      try {
        cancelled.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new EngineException(EngineException.Kind.CANCELLED, "cancelled", null);
    }

    @Override
    public FittedModel load(byte[] model) {
      calls.add("load " + model.length);
      return new SumModel();
    }

    @Override
    public boolean holds(FittedModel model) {
      return model instanceof SumModel;
    }

    @Override
    public ResultTable compute(String job, RowSink table, RowSink other, Map<String, String> options) {
      calls.add("compute " + job);
      return new ResultTable(new String[] {"n"}, new String[][] {null}, new double[][] {{rows.size()}});
    }

    @Override
    public void cancel() {
      calls.add("cancel");
      cancelled.countDown();
    }

    @Override
    public Progress progress() {
      return new Progress("search", 1, 4);
    }

    @Override
    public List<String> notes() {
      return Collections.singletonList("computed by a fake");
    }

    @Override
    public void close() {
      calls.add("close");
    }
  }

  private final class Sink implements RowSink {
    private final int columns;

    Sink(int columns) {
      this.columns = columns;
    }

    @Override
    public void append(ByteBuffer block, int n) throws EngineException {
      threads.add(Thread.currentThread());
      if (blocks.size() == failAtBlock) {
        throw new EngineException(EngineException.Kind.UNSUITABLE, "block " + failAtBlock + " is bad", null);
      }
      blocks.add(n);
      blockBytes.add(block.capacity());
      rows.addAll(rowsOf(block, n, columns));
    }

    @Override
    public void close() {
      calls.add("close sink");
    }
  }

  private static List<double[]> rowsOf(ByteBuffer block, int n, int columns) {
    List<double[]> found = new ArrayList<double[]>();
    ByteBuffer bytes = block.duplicate().order(ByteOrder.nativeOrder());
    for (int r = 0; r < n; r++) {
      double[] row = new double[columns];
      for (int c = 0; c < columns; c++) {
        row[c] = bytes.getDouble(8 * (r * columns + c));
      }
      found.add(row);
    }
    return found;
  }

  private final class SumModel implements FittedModel {
    @Override
    public ResultTable apply(EngineSession session, ByteBuffer block, int n, Map<String, String> options) {
      int columns = 2;
      double[] sums = new double[n];
      for (int r = 0; r < n; r++) {
        for (double value : rowsOf(block, n, columns).get(r)) {
          sums[r] += value;
        }
      }
      blocks.add(n);
      return new ResultTable(new String[] {"prediction"}, new String[][] {null}, new double[][] {sums});
    }

    @Override
    public ResultTable part(String name) {
      return new ResultTable(new String[] {name}, new String[][] {null}, new double[][] {{}});
    }

    @Override
    public byte[] bytes() {
      return new byte[] {1, 2, 3};
    }

    @Override
    public void release() {
      calls.add("release");
    }

    @Override
    public void close() {
      calls.add("close model");
    }
  }
}
