// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.Arrays;
import weka.core.DistanceFunction;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Utils;

/**
 * The nearest training rows of one query by WEKA's own distance: the k nearest, and all others as far as the k-th, as
 * LinearNNSearch gives them. Equal distances follow the order of the training rows.
 */
public final class RankedRows {
  private static final int FEW = 48;

  private final int[] rows;
  private final double[] distances;
  private final boolean full;

  private RankedRows(int[] rows, double[] distances, boolean full) {
    this.rows = rows;
    this.distances = distances;
    this.full = full;
  }

  /** Training rows, from 0, nearest first. */
  public int[] rows() {
    return rows;
  }

  /** Their distances as WEKA adds them up, before DistanceFunction.postProcessDistances. */
  public double[] distances() {
    return distances;
  }

  /** Whether there are k of them. */
  boolean full() {
    return full;
  }

  /**
   * Ranks rows.
   *
   * @param among ascending numbers of training rows; null is all of them
   * @param skipIdentical whether rows of distance 0 are passed over, as option -S of LinearNNSearch wants
   */
  static RankedRows of(DistanceFunction distance, Instances training, Instance query, int[] among, int k,
      boolean skipIdentical) {
    int n = among == null ? training.numInstances() : among.length;
    double[] nearest = new double[Math.min(k, n)]; // ascending, the first `found` are valid
    double[] all = new double[n];
    int found = 0;
    for (int i = 0; i < n; i++) {
      int row = among == null ? i : among[i];
      Instance candidate = training.instance(row);
      all[i] = Double.NaN;
      if (candidate == query) {
        continue; // A training row is no neighbour of itself when k is chosen by cross-validation.
      }
      double limit = found < nearest.length ? Double.POSITIVE_INFINITY : nearest[found - 1];
      double d = distance.distance(query, candidate, limit, null);
      if (Double.isNaN(d)) {
        continue; // Infinite values have no distance, and LinearNNSearch's order of NaN is by chance.
      }
      // LinearNNSearch keeps an identical last row if there are too few others.
      if (d == 0 && skipIdentical && !(row == training.numInstances() - 1 && found < k)) {
        continue;
      }
      all[i] = d;
      if (d < limit || found < nearest.length) {
        int place = found < nearest.length ? found++ : found - 1;
        for (; place > 0 && nearest[place - 1] > d; place--) {
          nearest[place] = nearest[place - 1];
        }
        nearest[place] = d;
      }
    }
    return chosen(all, among, found == 0 ? Double.NaN : nearest[found - 1], found == k);
  }

  private static RankedRows chosen(double[] all, int[] among, double farthest, boolean full) {
    int count = 0;
    for (double d : all) {
      count += d <= farthest ? 1 : 0;
    }
    int[] rows = new int[count];
    double[] distances = new double[count];
    int next = 0;
    for (int i = 0; i < all.length; i++) {
      if (all[i] <= farthest) {
        rows[next] = among == null ? i : among[i];
        distances[next++] = all[i];
      }
    }
    return count <= FEW ? insertionSorted(rows, distances, full) : mergeSorted(rows, distances, full);
  }

  private static RankedRows insertionSorted(int[] rows, double[] distances, boolean full) {
    for (int i = 1; i < rows.length; i++) {
      double d = distances[i];
      int row = rows[i];
      int place = i;
      for (; place > 0 && distances[place - 1] > d; place--) {
        distances[place] = distances[place - 1];
        rows[place] = rows[place - 1];
      }
      distances[place] = d;
      rows[place] = row;
    }
    return new RankedRows(rows, distances, full);
  }

  private static RankedRows mergeSorted(int[] rows, double[] distances, boolean full) {
    int[] order = Utils.stableSort(distances);
    int[] sortedRows = new int[rows.length];
    double[] sorted = new double[rows.length];
    for (int i = 0; i < order.length; i++) {
      sortedRows[i] = rows[order[i]];
      sorted[i] = distances[order[i]];
    }
    return new RankedRows(sortedRows, sorted, full);
  }

  @Override
  public String toString() {
    return Arrays.toString(rows) + " at " + Arrays.toString(distances);
  }
}
