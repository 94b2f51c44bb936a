// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/** Compares predictions and confidences of two labelled sets: bit for bit, or within 1e-9 where log or exp decide. */
final class Comparison {
  private static final double TOLERANCE = 1e-9;
  /** Measures made of log, exp, acos, pow or a matrix inverse: every Java has other last bits there. */
  private static final Set<String> ROUNDED = new HashSet<>(Arrays.asList("CosineSimilarity", "KernelEuclideanDistance",
      "GeneralizedIDivergence", "KLDivergence", "ItakuraSaitoDistance", "LogarithmicLoss", "LogisticLoss",
      "MahalanobisDistance"));

  long rows;
  long numbers;
  long tied;
  long failures;
  String first = "";

  /** {@code measure}: its RapidMiner name, which decides how exact equality is. */
  void compare(String what, String measure, ExampleSet expected, ExampleSet got) {
    boolean rounded = ROUNDED.contains(measure);
    Attribute label = expected.getAttributes().getPredictedLabel();
    Attribute ours = got.getAttributes().getPredictedLabel();
    Iterator<Example> others = got.iterator();
    int row = 0;
    for (Example example : expected) {
      Example other = others.next();
      rows++;
      boolean same = same(example.getValue(label), other.getValue(ours), rounded && !label.isNominal());
      boolean confidences = true;
      if (label.isNominal()) {
        for (String value : label.getMapping().getValues()) {
          numbers++;
          confidences &= same(example.getConfidence(value), other.getConfidence(value), rounded);
        }
      }
      // Two classes of equal confidence, but for the last bits: either may win.
      if (!same && rounded && confidences && label.isNominal()) {
        tied++;
        same = true;
      }
      if (!same || !confidences) {
        fail(what + " row " + row + ": " + text(example, label) + " became " + text(other, ours));
      }
      row++;
    }
  }

  void compare(String what, String measure, List<String> expected, List<String> got) {
    boolean rounded = ROUNDED.contains(measure);
    rows++;
    for (int i = 0; i < expected.size(); i++) {
      boolean isText = i == 0 && expected.size() > 1;
      numbers++;
      boolean same = isText ? expected.get(i).equals(got.get(i))
          : same(number(expected.get(i)), number(got.get(i)), rounded);
      if (!same && isText && rounded) {
        tied++;
      } else if (!same) {
        fail(what + ": " + expected + " became " + got);
      }
    }
  }

  private static double number(String text) {
    return text.equals("?") ? Double.NaN : Double.parseDouble(text);
  }

  void fail(String text) {
    failures++;
    if (first.isEmpty()) {
      first = text;
    }
    if (failures <= 20) {
      System.out.println("  DIFFERENT " + text);
    }
  }

  private static boolean same(double a, double b, boolean rounded) {
    if (Double.doubleToLongBits(a) == Double.doubleToLongBits(b)) {
      return true;
    }
    return rounded && Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.max(Math.abs(a), Math.abs(b)));
  }

  private static String text(Example example, Attribute label) {
    StringBuilder text = new StringBuilder(example.getValueAsString(label));
    if (label.isNominal()) {
      for (String value : label.getMapping().getValues()) {
        text.append(' ').append(example.getConfidence(value));
      }
    } else {
      text.append(' ').append(example.getValue(label));
    }
    return text.toString();
  }

  /** "1234 rows, 5678 confidences equal, 0 different". */
  String summary() {
    return rows + " rows, " + numbers + " confidences, " + failures + " different" + (tied > 0
        ? ", " + tied + " ties within 1e-9" : "");
  }
}
