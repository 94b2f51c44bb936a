// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.tools.container.Tupel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.stope.rapidminer.engine.ColumnHeader;
import org.stope.rapidminer.engine.ResultTable;

/**
 * Cuts as RapidMiner's ranges. A value belongs to the right of a cut if it is the cut or above it; RapidMiner asks for
 * the first range whose limit is not below the value. So the limit is the largest double below the cut.
 */
final class CutRanges {
  private CutRanges() {}

  /** A range list for every numeric regular column, in the order of its values. */
  static Map<String, SortedSet<Tupel<Double, String>>> of(List<ColumnHeader> columns, ResultTable cuts) {
    Map<String, List<Double>> byName = new HashMap<String, List<Double>>();
    int name = cuts.index("name");
    double[] number = cuts.column("number");
    for (int row = 0; row < cuts.rows(); row++) {
      String attribute = cuts.text(row, name);
      if (!byName.containsKey(attribute)) {
        byName.put(attribute, new ArrayList<Double>());
      }
      if (number[row] > Double.NEGATIVE_INFINITY) {
        byName.get(attribute).add(number[row]);
      }
    }
    Map<String, SortedSet<Tupel<Double, String>>> ranges = new HashMap<String, SortedSet<Tupel<Double, String>>>();
    for (ColumnHeader column : columns) {
      if (column.role() == ColumnHeader.Role.REGULAR && !column.nominal()) {
        List<Double> found = byName.get(column.name());
        ranges.put(column.name(), ranges(found == null ? Collections.<Double>emptyList() : found));
      }
    }
    return ranges;
  }

  private static SortedSet<Tupel<Double, String>> ranges(List<Double> cuts) {
    List<Double> sorted = new ArrayList<Double>(cuts);
    Collections.sort(sorted);
    SortedSet<Tupel<Double, String>> ranges = new TreeSet<Tupel<Double, String>>();
    String from = "(-∞";
    for (int i = 0; i < sorted.size(); i++) {
      double cut = sorted.get(i);
      ranges.add(new Tupel<Double, String>(Math.nextDown(cut), name(i, from, text(cut))));
      from = "[" + text(cut);
    }
    ranges.add(new Tupel<Double, String>(Double.POSITIVE_INFINITY, name(sorted.size(), from, "∞")));
    return ranges;
  }

  private static String name(int index, String from, String to) {
    return "range" + (index + 1) + " " + from + ", " + to + ")";
  }

  /** The shortest decimal of a double; whole numbers without a point. */
  static String text(double number) {
    if (number == Math.rint(number) && Math.abs(number) < 1e15) {
      return String.valueOf((long) number);
    }
    return String.valueOf(number);
  }
}
