// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.List;
import org.stope.Column;

/** The columns that stand for one attribute of WEKA. */
interface EncodedAttribute {
  /** The attribute, counted from 0. */
  int attribute();

  /** Whether the ranges of WEKA's distance matter to it. */
  boolean numeric();

  /** How many columns it has. */
  int width();

  /** Adds a description of each column. */
  void describe(List<Column> columns);

  /** Writes the columns of one value, NaN if it is missing, of a query or of a training row. */
  void write(double value, boolean query, double[] to, int at);
}
