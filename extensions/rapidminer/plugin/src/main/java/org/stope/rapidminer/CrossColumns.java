// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.UserError;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.stope.rapidminer.engine.BlockSource;
import org.stope.rapidminer.engine.Blocks;
import org.stope.rapidminer.engine.ColumnHeader;
import org.stope.rapidminer.engine.RowSink;
import org.stope.rapidminer.engine.Worker;

/**
 * The columns of both sets of Cross Distances. The built-in operator checks no types: numeric measures take the codes
 * of nominal values as numbers, and measures that ask for equality compare any two numbers. The engine does check, so
 * such columns are sent as numbers, or as codes of the numbers that occur.
 */
final class CrossColumns {
  private enum As { THEY_ARE, NUMBERS, CODES }

  private final Map<String, Integer> columns = new HashMap<String, Integer>();
  private final List<As> ways = new ArrayList<As>();
  /** Per column that is sent as codes: the numbers of both sets. */
  private final List<Map<Double, Integer>> codes = new ArrayList<Map<Double, Integer>>();

  CrossColumns(Operator operator, ExampleSet requests, ExampleSet references, String metric) throws UserError {
    for (Attribute request : requests.getAttributes()) {
      Attribute reference = references.getAttributes().getRegular(request.getName());
      As way = way(request.isNominal(), reference.isNominal(), metric);
      if (way == null) {
        throw StopeError.user(operator, "numeric_attribute", request.getName());
      }
      Map<Double, Integer> found = new HashMap<Double, Integer>();
      if (way == As.CODES) {
        collect(requests, request, found);
        collect(references, reference, found);
      }
      columns.put(request.getName(), ways.size());
      ways.add(way);
      codes.add(found);
    }
  }

  /** Null where the measure needs the texts of nominal values and there are none. */
  private static As way(boolean request, boolean reference, String metric) {
    if (Measures.skipsMissingNominal(metric)) {
      boolean asksForEquality = request || !metric.equals(Measures.MIXED);
      return !asksForEquality ? As.NUMBERS : request && reference ? As.THEY_ARE : As.CODES;
    }
    if (Measures.isNominal(metric)) {
      return request && reference ? As.THEY_ARE : null;
    }
    return As.NUMBERS;
  }

  private static void collect(ExampleSet set, Attribute attribute, Map<Double, Integer> codes) {
    Iterator<Example> rows = set.iterator();
    while (rows.hasNext()) {
      double value = rows.next().getValue(attribute);
      if (!Double.isNaN(value) && !codes.containsKey(value + 0.0)) {
        codes.put(value + 0.0, codes.size());
      }
    }
  }

  RowSink load(Worker worker, ExampleSet set) throws Exception {
    List<Attribute> attributes = new ArrayList<Attribute>();
    List<ColumnHeader> headers = new ArrayList<ColumnHeader>();
    for (Attribute attribute : set.getAttributes()) {
      int column = columns.get(attribute.getName());
      attributes.add(attribute);
      headers.add(header(attribute, column));
    }
    return Blocks.load(worker, headers, new Rows(set, attributes), set.size());
  }

  private ColumnHeader header(Attribute attribute, int column) {
    switch (ways.get(column)) {
      case NUMBERS:
        return ColumnHeader.real(attribute.getName(), ColumnHeader.Role.REGULAR);
      case CODES:
        List<String> values = new ArrayList<String>();
        for (int value = 0; value < Math.max(1, codes.get(column).size()); value++) {
          values.add("v" + value);
        }
        return new ColumnHeader(attribute.getName(), ColumnHeader.Role.REGULAR, ColumnHeader.Type.NOMINAL, values);
      default:
        return Columns.header(attribute, ColumnHeader.Role.REGULAR);
    }
  }

  /** The rows of a set, some of their numbers as codes. */
  private final class Rows implements BlockSource {
    private final ExampleRows rows;
    private final Map<?, ?>[] toCode;

    Rows(ExampleSet set, List<Attribute> attributes) {
      rows = new ExampleRows(set, attributes);
      toCode = new Map<?, ?>[attributes.size()];
      for (int c = 0; c < toCode.length; c++) {
        int column = columns.get(attributes.get(c).getName());
        toCode[c] = ways.get(column) == As.CODES ? codes.get(column) : null;
      }
    }

    @Override
    public int columns() {
      return rows.columns();
    }

    @Override
    public int next(DoubleBuffer to, int most) {
      int begin = to.position();
      int taken = rows.next(to, most);
      for (int row = 0; row < taken; row++) {
        for (int c = 0; c < toCode.length; c++) {
          int at = begin + row * toCode.length + c;
          if (toCode[c] != null && !Double.isNaN(to.get(at))) {
            to.put(at, (Integer) toCode[c].get(to.get(at) + 0.0));
          }
        }
      }
      return taken;
    }
  }
}
