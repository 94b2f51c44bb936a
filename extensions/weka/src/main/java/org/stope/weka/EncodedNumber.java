// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.List;
import org.stope.Column;
import weka.core.NormalizableDistance;

/**
 * A numeric attribute: its value, normalised as WEKA does, and what WEKA assumes where a value is missing. If one row
 * lacks it, the difference is the largest that the other row's value can have within the range. If both do, it is 1, or
 * the width of the range without normalising.
 */
final class EncodedNumber implements EncodedAttribute {
  private final int attribute;
  private final double low;
  private final double high;
  private final double span;
  private final boolean normalize;
  private final boolean trainingMayLack;
  private final boolean queryMayLack;

  EncodedNumber(int attribute, double[] range, boolean normalize, boolean trainingMayLack, boolean queryMayLack) {
    this.attribute = attribute;
    low = range[NormalizableDistance.R_MIN];
    high = range[NormalizableDistance.R_MAX];
    span = range[NormalizableDistance.R_WIDTH];
    this.normalize = normalize;
    this.trainingMayLack = trainingMayLack;
    this.queryMayLack = queryMayLack;
  }

  @Override
  public int attribute() {
    return attribute;
  }

  @Override
  public boolean numeric() {
    return true;
  }

  @Override
  public int width() {
    return 1 + (trainingMayLack ? 1 : 0) + (queryMayLack ? 1 : 0);
  }

  @Override
  public void describe(List<Column> columns) {
    columns.add(Column.real("x" + attribute));
    if (queryMayLack) {
      columns.add(Column.real("query lacks x" + attribute));
    }
    if (trainingMayLack) {
      columns.add(Column.real("training lacks x" + attribute));
    }
  }

  @Override
  public void write(double value, boolean query, double[] to, int at) {
    boolean missing = Double.isNaN(value);
    double scaled = scaled(value);
    to[at] = missing ? Double.NaN : scaled;
    int next = at + 1;
    if (queryMayLack) {
      to[next++] = query ? (missing ? 0 : Double.NaN) : missing ? farthest() : farthestFrom(scaled);
    }
    if (trainingMayLack) {
      to[next] = query ? (missing ? Double.NaN : farthestFrom(scaled)) : missing ? 0 : Double.NaN;
    }
  }

  private double scaled(double value) {
    if (!normalize) {
      return value;
    }
    return span == 0 ? 0 : (value - low) / span;
  }

  private double farthestFrom(double scaled) {
    if (normalize) {
      return scaled < 0.5 ? 1 - scaled : scaled;
    }
    return Math.max(high - scaled, scaled - low);
  }

  private double farthest() {
    return normalize ? 1 : span;
  }
}
