// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import java.util.Locale;
import org.stope.rapidminer.engine.ResultTable;

/** A table of results as plain text, for the result view of a model. */
final class TextTable {
  private static final int MOST_ROWS = 100;
  private static final int MOST_COLUMNS = 20;

  private TextTable() {}

  static String of(ResultTable table) {
    int rows = Math.min(table.rows(), MOST_ROWS);
    int columns = Math.min(table.columns(), MOST_COLUMNS);
    StringBuilder text = new StringBuilder();
    for (int c = 0; c < columns; c++) {
      text.append(c == 0 ? "" : "\t").append(table.name(c));
    }
    text.append('\n');
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < columns; c++) {
        text.append(c == 0 ? "" : "\t").append(cell(table, r, c));
      }
      text.append('\n');
    }
    if (rows < table.rows() || columns < table.columns()) {
      text.append("(").append(table.rows()).append(" rows, ").append(table.columns()).append(" columns in all)\n");
    }
    return text.toString();
  }

  private static String cell(ResultTable table, int row, int column) {
    if (table.nominal(column)) {
      String value = table.text(row, column);
      return value == null ? "?" : value;
    }
    return String.format(Locale.ROOT, "%.6g", table.column(column)[row]);
  }
}
