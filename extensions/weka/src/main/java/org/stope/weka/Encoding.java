// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.ArrayList;
import java.util.List;
import org.stope.Column;
import weka.core.Attribute;
import weka.core.ChebyshevDistance;
import weka.core.DistanceFunction;
import weka.core.EuclideanDistance;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.ManhattanDistance;
import weka.core.MinkowskiDistance;
import weka.core.NormalizableDistance;
import weka.core.Range;

/**
 * Instances as rows of numbers, whose distance by one of the engine's measures is WEKA's distance but for rounding.
 *
 * <p>The engine's measures skip what either row lacks, and WEKA does not. So an attribute with missing values has up to
 * two more columns. One of them is empty unless the query lacks the value, the other unless only the training row does.
 * They hold the largest difference that WEKA assumes on the one side and 0 on the other.
 */
final class Encoding {
  /** Nominal attributes of so many values in all that a column a value is not worth an index. */
  static final int MOST_SPREAD_COLUMNS = 4096;

  /** The measures of WEKA that have one in the engine. */
  private enum Measure { EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI }

  private final Measure measure;
  private final double order;
  private final boolean rangesMatter;
  private final double[][] ranges;
  private final List<EncodedAttribute> parts = new ArrayList<>();
  private final boolean[] missingInQueries;
  private final boolean anyNominal;
  private final int width;
  private final boolean tooWide;

  /**
   * @param distance has the ranges of this moment
   * @param missingInTraining for each attribute, whether a training row lacks it
   * @param missingInQueries for each attribute, whether a query may lack it
   */
  Encoding(NormalizableDistance distance, Instances header, boolean[] missingInTraining, boolean[] missingInQueries)
      throws Exception {
    measure = measureOf(distance);
    order = measure == Measure.MINKOWSKI ? ((MinkowskiDistance) distance).getOrder() : 0;
    ranges = copy(distance.getRanges());
    this.missingInQueries = missingInQueries.clone();
    boolean mixed = measure == Measure.EUCLIDEAN;
    boolean matter = false;
    boolean nominal = false;
    int columns = 0;
    long spreadColumns = 0;
    Range chosen = new Range(distance.getAttributeIndices());
    chosen.setInvert(distance.getInvertSelection());
    chosen.setUpper(header.numAttributes() - 1);
    for (int a = 0; a < header.numAttributes(); a++) {
      int type = header.attribute(a).type();
      if (a == header.classIndex() || !chosen.isInRange(a)) {
        continue;
      }
      EncodedAttribute part;
      if (type == Attribute.NUMERIC) { // WEKA's distances pass over dates, which have a type of their own.
        part = new EncodedNumber(a, ranges[a], !distance.getDontNormalize(), missingInTraining[a], missingInQueries[a]);
        matter |= !distance.getDontNormalize() || missingInTraining[a] || missingInQueries[a];
      } else if (type == Attribute.NOMINAL) {
        int values = header.attribute(a).numValues();
        part = mixed ? EncodedValue.coded(a, values) : EncodedValue.spread(a, values, shareOfMismatch());
        nominal |= mixed;
      } else {
        continue;
      }
      parts.add(part);
      columns = Math.addExact(columns, part.width());
      spreadColumns += part.numeric() || mixed ? 0 : part.width();
    }
    rangesMatter = matter;
    anyNominal = nominal;
    tooWide = spreadColumns > MOST_SPREAD_COLUMNS;
    width = Math.max(columns, 1); // One constant column if there is no attribute: all distances are 0.
  }

  /** Refuses a distance that is none of WEKA's four, or that has a parameter without a meaning. */
  static void required(DistanceFunction distance) {
    measureOf(distance);
    if (distance instanceof MinkowskiDistance) {
      double p = ((MinkowskiDistance) distance).getOrder();
      if (!(p > 0) || Double.isInfinite(p)) {
        throw new IllegalArgumentException("the order of MinkowskiDistance is " + p + ": it must be above 0 and finite");
      }
    }
  }

  private static Measure measureOf(DistanceFunction distance) {
    // A subclass may compute anything, so the class itself must be one of the four.
    Class<?> type = distance == null ? null : distance.getClass();
    if (type == EuclideanDistance.class) {
      return Measure.EUCLIDEAN;
    } else if (type == ManhattanDistance.class) {
      return Measure.MANHATTAN;
    } else if (type == ChebyshevDistance.class) {
      return Measure.CHEBYSHEV;
    } else if (type == MinkowskiDistance.class) {
      return Measure.MINKOWSKI;
    }
    throw new IllegalArgumentException("stope has no measure for " + (type == null ? "null" : type.getName())
        + ": take weka.core.EuclideanDistance, ManhattanDistance, ChebyshevDistance or MinkowskiDistance");
  }

  private static double[][] copy(double[][] ranges) {
    double[][] copied = new double[ranges.length][];
    for (int a = 0; a < ranges.length; a++) {
      copied[a] = ranges[a].clone();
    }
    return copied;
  }

  /** What two columns that both differ must differ by, to add 1 together. */
  private double shareOfMismatch() {
    switch (measure) {
      case MANHATTAN: return 0.5;
      case MINKOWSKI: return Math.pow(2, -1 / order);
      default: return 1; // A maximum counts the difference once.
    }
  }

  String metric() {
    switch (measure) {
      case EUCLIDEAN: return anyNominal ? "mixed-euclidean" : "euclidean";
      case MANHATTAN: return "manhattan";
      case CHEBYSHEV: return "chebyshev";
      default: return "minkowski";
    }
  }

  /** The parameter p of the metric, or NaN if it has none. */
  double order() {
    return measure == Measure.MINKOWSKI ? order : Double.NaN;
  }

  int width() {
    return width;
  }

  /** Whether rows are to be scanned, as no index of this encoding is worth its memory. */
  boolean tooWide() {
    return tooWide;
  }

  List<Column> columns() {
    List<Column> columns = new ArrayList<>();
    for (EncodedAttribute part : parts) {
      part.describe(columns);
    }
    if (columns.isEmpty()) {
      columns.add(Column.real("nothing"));
    }
    return columns;
  }

  /** Writes a row, as a training row or as a query. */
  void write(Instance row, boolean query, double[] to, int at) {
    to[at] = 0;
    int next = at;
    for (EncodedAttribute part : parts) {
      part.write(row.value(part.attribute()), query, to, next);
      next += part.width();
    }
  }

  /** Whether distances by the ranges of this moment are still those of this encoding. */
  boolean fits(double[][] now) {
    if (!rangesMatter) {
      return true;
    }
    for (EncodedAttribute part : parts) {
      int a = part.attribute();
      for (int bound = 0; bound < 3; bound++) {
        if (part.numeric() && Double.compare(now[a][bound], ranges[a][bound]) != 0) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether WEKA's ranges stay as they are when they take in this instance. */
  boolean insideRanges(Instance row) {
    if (!rangesMatter) {
      return true;
    }
    for (EncodedAttribute part : parts) {
      double value = row.value(part.attribute());
      double[] range = ranges[part.attribute()];
      boolean inside = value >= range[NormalizableDistance.R_MIN] && value <= range[NormalizableDistance.R_MAX];
      if (part.numeric() && !inside && !Double.isNaN(value)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the encoding has a place for all that the query lacks; notes in {@code missing} what it lacks. */
  boolean knowsMissing(Instance query, boolean[] missing) {
    boolean known = true;
    for (EncodedAttribute part : parts) {
      int a = part.attribute();
      if (part.numeric() && Double.isNaN(query.value(a))) {
        missing[a] = true;
        known &= missingInQueries[a];
      }
    }
    return known;
  }
}
