// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;

/** A table of results: doubles, column by column. NaN is missing; a nominal column holds codes of its values. */
public final class ResultTable implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String[] names;
  private final String[][] values;
  private final double[][] columns;

  /** {@code values[c]} is null for a numeric column. */
  public ResultTable(String[] names, String[][] values, double[][] columns) {
    this.names = names.clone();
    this.values = values.clone();
    this.columns = columns.clone();
  }

  public int columns() {
    return columns.length;
  }

  public int rows() {
    return columns.length == 0 ? 0 : columns[0].length;
  }

  public String name(int column) {
    return names[column];
  }

  public boolean nominal(int column) {
    return values[column] != null;
  }

  public List<String> values(int column) {
    return Arrays.asList(values[column]);
  }

  /** The numbers of a column; not a copy. */
  public double[] column(int column) {
    return columns[column];
  }

  /** The column of this name. Throws if there is none: then engine and extension do not belong together. */
  public double[] column(String name) {
    return columns[index(name)];
  }

  public boolean has(String name) {
    return Arrays.asList(names).contains(name);
  }

  public int index(String name) {
    int at = Arrays.asList(names).indexOf(name);
    if (at < 0) {
      throw new IllegalStateException("the engine's table has no column '" + name + "', only " + Arrays.toString(names));
    }
    return at;
  }

  /** The text of a nominal value; null where it is missing. */
  public String text(int row, int column) {
    double code = columns[column][row];
    return Double.isNaN(code) ? null : values[column][(int) code];
  }
}
