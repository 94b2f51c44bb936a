// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.stope.Table;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.SparseInstance;

/** Cuts of numeric attributes, and tables coded by them. A value that equals a cut is in the interval above it. */
public final class CutPoints implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Instances header;
  private final double[][] cuts; // By attribute; null where it is not cut.

  /** Makes empty sets of cuts for the numeric attributes among these. */
  public CutPoints(Instances training, List<Integer> attributes) {
    header = new Instances(training, 0);
    cuts = new double[training.numAttributes()][];
    for (int a : attributes) {
      if (training.attribute(a).isNumeric()) {
        cuts[a] = new double[0];
      }
    }
  }

  /** Adds the engine's cuts: a row a cut, with the attribute's "name" and its "number" or "cut". */
  public void addAll(Table found) {
    int name = found.indexOf("name");
    double[] numbers = found.column(found.indexOf("number") >= 0 ? "number" : "cut");
    for (int row = 0; row < numbers.length; row++) {
      // Cuts of nominal attributes have no number; -infinity parts missing values from the others.
      if (!Double.isNaN(numbers[row]) && !Double.isInfinite(numbers[row])) {
        int a = EngineTable.attribute(found.text(row, name));
        cuts[a] = Arrays.copyOf(cuts[a], cuts[a].length + 1);
        cuts[a][cuts[a].length - 1] = numbers[row] + 0.0; // never -0
      }
    }
    for (double[] of : cuts) {
      if (of != null) {
        Arrays.sort(of);
      }
    }
  }

  /** Gives the cuts of an attribute, ascending, or null if it is not cut. */
  public double[] of(int attribute) {
    return cuts[attribute] == null ? null : cuts[attribute].clone();
  }

  /** Makes the empty table whose attributes have an interval a value. */
  public Instances outputFormat() {
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int a = 0; a < cuts.length; a++) {
      Attribute own = header.attribute(a);
      if (cuts[a] == null) {
        attributes.add((Attribute) own.copy());
        continue;
      }
      Attribute coded = new Attribute(own.name(), labels(own, cuts[a]));
      coded.setWeight(own.weight());
      attributes.add(coded);
    }
    Instances format = new Instances(header.relationName(), attributes, 0);
    format.setClassIndex(header.classIndex());
    return format;
  }

  private static List<String> labels(Attribute attribute, double[] cuts) {
    if (cuts.length == 0) {
      return Arrays.asList("'All'");
    }
    List<String> texts = texts(attribute, cuts);
    List<String> labels = new ArrayList<>();
    labels.add("'(-inf-" + texts.get(0) + ")'");
    for (int i = 1; i < cuts.length; i++) {
      labels.add("'[" + texts.get(i - 1) + "-" + texts.get(i) + ")'");
    }
    labels.add("'[" + texts.get(cuts.length - 1) + "-inf)'");
    return labels;
  }

  /** Cuts in few digits, or in all digits if two of them would read the same. */
  private static List<String> texts(Attribute attribute, double[] cuts) {
    List<String> few = new ArrayList<>();
    List<String> all = new ArrayList<>();
    boolean distinct = true;
    for (double cut : cuts) {
      String text = CutText.of(attribute, cut);
      distinct &= !few.contains(text);
      few.add(text);
      all.add(Double.toString(cut));
    }
    return distinct ? few : all;
  }

  /** Codes one row; strings and relations are still those of the row's table. */
  public Instance coded(Instance row) {
    double[] values = row.toDoubleArray();
    for (int a = 0; a < cuts.length; a++) {
      if (cuts[a] != null && !Double.isNaN(values[a])) {
        int at = Arrays.binarySearch(cuts[a], values[a] == 0 ? 0.0 : values[a]); // -0 equals 0.
        values[a] = at >= 0 ? at + 1 : -at - 1;
      }
    }
    return row instanceof SparseInstance ? new SparseInstance(row.weight(), values)
        : new DenseInstance(row.weight(), values);
  }
}
