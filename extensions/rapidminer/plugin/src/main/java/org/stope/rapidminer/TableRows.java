// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import java.nio.DoubleBuffer;
import org.stope.rapidminer.engine.BlockSource;
import org.stope.rapidminer.engine.ResultTable;

/** The rows of a table of the engine. */
final class TableRows implements BlockSource {
  private final ResultTable table;
  private int next;

  TableRows(ResultTable table) {
    this.table = table;
  }

  @Override
  public int columns() {
    return table.columns();
  }

  @Override
  public int next(DoubleBuffer to, int most) {
    int end = Math.min(table.rows(), next + most);
    int taken = end - next;
    for (; next < end; next++) {
      for (int c = 0; c < table.columns(); c++) {
        to.put(table.column(c)[next]);
      }
    }
    return taken;
  }
}
