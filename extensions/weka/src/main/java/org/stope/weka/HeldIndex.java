// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.lang.ref.Reference;
import java.util.List;
import org.stope.Column;
import org.stope.Knn;
import org.stope.Neighbors;
import org.stope.Run;
import org.stope.Table;
import org.stope.TableBuilder;
import weka.core.Instance;
import weka.core.Instances;

/** The training rows in the engine, as one encoding writes them. */
final class HeldIndex implements AutoCloseable {
  private static final int BLOCK_VALUES = 1 << 16;

  private final Encoding encoding;
  private final Knn knn;
  private Reference<?> counted;

  private HeldIndex(Encoding encoding, Knn knn) {
    this.encoding = encoding;
    this.knn = knn;
  }

  /** Fits the index. An encoding that is too wide gets none: its rows are scanned. */
  static HeldIndex of(Encoding encoding, Instances training, OptionValues options) {
    if (encoding.tooWide()) {
      return new HeldIndex(encoding, null);
    }
    try (Run run = EngineOptions.newRun(options); TableBuilder builder = new TableBuilder(training.numInstances())) {
      for (Column column : encoding.columns()) {
        builder.column(column);
      }
      try (Table table = filled(builder, encoding, training, false)) {
        Knn.Builder searcher = Knn.searcher().metric(encoding.metric());
        if (!Double.isNaN(encoding.order())) {
          searcher.metricParameter("p", encoding.order());
        }
        HeldIndex index = new HeldIndex(encoding, searcher.fit(table, run));
        index.counted = HeldMemory.INSTANCE.add(index, 2L * Double.BYTES * encoding.width() * training.numInstances());
        return index;
      }
    }
  }

  Encoding encoding() {
    return encoding;
  }

  /** Finds the nearest training rows of each query: {@code n} a query, nearest first, of equal distances by row. */
  Neighbors search(List<Instance> queries, int n, OptionValues options) {
    try (Run run = EngineOptions.newRun(options);
        TableBuilder builder = TableBuilder.forModel(knn.model(), queries.size());
        Table table = filled(builder, encoding, queries, true)) {
      return knn.neighbors(table, n, null, run);
    }
  }

  private static Table filled(TableBuilder builder, Encoding encoding, List<Instance> rows, boolean query) {
    int width = encoding.width();
    int blockRows = Math.max(1, Math.min(rows.size(), BLOCK_VALUES / width));
    double[] block = new double[blockRows * width];
    int inBlock = 0;
    for (int i = 0; i < rows.size(); i++) {
      encoding.write(rows.get(i), query, block, inBlock * width);
      inBlock++;
      if (inBlock == blockRows || i + 1 == rows.size()) {
        builder.append(block, inBlock);
        inBlock = 0;
      }
    }
    return builder.finish();
  }

  @Override
  public void close() {
    if (knn != null) {
      knn.close();
      HeldMemory.INSTANCE.remove(counted);
    }
  }
}
