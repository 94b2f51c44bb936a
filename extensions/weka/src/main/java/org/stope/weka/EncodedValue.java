// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.ArrayList;
import java.util.List;
import org.stope.Column;
import org.stope.ColumnType;
import org.stope.Role;

/**
 * A nominal attribute. Unequal values differ by 1, and a missing value differs from everything. So there are two more
 * codes: missing in a training row, and missing in a query.
 */
final class EncodedValue implements EncodedAttribute {
  private final int attribute;
  private final int codes;
  private final double share; // 0: one nominal column. Else: a column a code, of 0 or this share.

  private EncodedValue(int attribute, int values, double share) {
    this.attribute = attribute;
    codes = values + 2;
    this.share = share;
  }

  /** One nominal column, for measures that take such. */
  static EncodedValue coded(int attribute, int values) {
    return new EncodedValue(attribute, values, 0);
  }

  /** A numeric column a value. Two of them differ by the share if the values differ. */
  static EncodedValue spread(int attribute, int values, double share) {
    return new EncodedValue(attribute, values, share);
  }

  @Override
  public int attribute() {
    return attribute;
  }

  @Override
  public boolean numeric() {
    return false;
  }

  @Override
  public int width() {
    return share == 0 ? 1 : codes;
  }

  @Override
  public void describe(List<Column> columns) {
    if (share == 0) {
      List<String> names = new ArrayList<>();
      for (int code = 0; code < codes; code++) {
        names.add(Integer.toString(code));
      }
      columns.add(Column.of("x" + attribute, Role.REGULAR, ColumnType.NOMINAL, names));
      return;
    }
    for (int code = 0; code < codes; code++) {
      columns.add(Column.real("x" + attribute + " is " + code));
    }
  }

  @Override
  public void write(double value, boolean query, double[] to, int at) {
    boolean known = value < codes - 2; // Not NaN, and not a value that a later header has added.
    int code = known ? (int) value : query ? codes - 1 : codes - 2;
    if (share == 0) {
      to[at] = code;
      return;
    }
    for (int i = 0; i < codes; i++) {
      to[at + i] = i == code ? share : 0;
    }
  }
}
