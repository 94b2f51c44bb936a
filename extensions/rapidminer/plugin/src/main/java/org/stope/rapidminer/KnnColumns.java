// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.stope.rapidminer.engine.ColumnHeader;

/**
 * The training columns of a k-NN model. Nominal columns whose measure only asks whether two values are equal get one
 * value more than RapidMiner's, which no training row has: RapidMiner compares a number with a nominal value where an
 * attribute has another type at application, and a number that is no code must differ from all values.
 *
 * <p>The engine gets neither names nor values, only "c0" and "v0": RapidMiner allows names that are no text elsewhere.
 */
final class KnnColumns implements Serializable {
  private static final long serialVersionUID = 1L;

  private final ArrayList<String> names = new ArrayList<String>();
  private final ArrayList<ColumnHeader> headers = new ArrayList<ColumnHeader>();
  private final ArrayList<Integer> known = new ArrayList<Integer>();
  /** Per column: numbers that are no codes and that rows of an update have, with their codes in the engine. */
  private final ArrayList<HashMap<Double, Integer>> added = new ArrayList<HashMap<Double, Integer>>();
  private final boolean hasOther;

  KnnColumns(ExampleSet training, String metric) {
    hasOther = Measures.skipsMissingNominal(metric);
    for (Attribute attribute : training.getAttributes()) {
      names.add(attribute.getName());
      known.add(attribute.isNominal() ? attribute.getMapping().getValues().size() : 0);
      added.add(new HashMap<Double, Integer>());
      headers.add(header(names.size() - 1, Columns.header(attribute, ColumnHeader.Role.REGULAR).type()));
    }
  }

  private KnnColumns(KnnColumns from) {
    hasOther = from.hasOther;
    names.addAll(from.names);
    known.addAll(from.known);
    headers.addAll(from.headers);
    for (Map<Double, Integer> codes : from.added) {
      added.add(new HashMap<Double, Integer>(codes));
    }
  }

  private ColumnHeader header(int column, ColumnHeader.Type type) {
    String name = "c" + column;
    if (type == ColumnHeader.Type.REAL) {
      return ColumnHeader.real(name, ColumnHeader.Role.REGULAR);
    }
    int values = known.get(column) + (hasOther ? 1 + added.get(column).size() : 0);
    return new ColumnHeader(name, ColumnHeader.Role.REGULAR, hasOther ? ColumnHeader.Type.NOMINAL : type,
        plainValues(values));
  }

  private static List<String> plainValues(int count) {
    List<String> values = new ArrayList<String>(count);
    for (int value = 0; value < count; value++) {
      values.add("v" + value);
    }
    return values;
  }

  /** The header of a label: its classes by number. */
  static ColumnHeader label(Attribute label) {
    return label.isNominal()
        ? new ColumnHeader("label", ColumnHeader.Role.LABEL, ColumnHeader.Type.NOMINAL,
            plainValues(label.getMapping().getValues().size()))
        : ColumnHeader.real("label", ColumnHeader.Role.LABEL);
  }

  /**
   * The columns of a model that also learns from these rows. Two rows with the same number that is no code are equal
   * there, as in RapidMiner, so such numbers become values of their own.
   */
  KnnColumns with(ExampleSet update) {
    KnnColumns grown = new KnnColumns(this);
    for (int column = 0; column < size(); column++) {
      Attribute attribute = update.getAttributes().get(name(column));
      if (attribute != null && nominal(column)) {
        Iterator<Example> rows = update.iterator();
        while (rows.hasNext()) {
          grown.add(column, rows.next().getValue(attribute));
        }
        grown.headers.set(column, grown.header(column, headers.get(column).type()));
      }
    }
    return grown;
  }

  private void add(int column, double number) {
    // Measures that count agreements count these numbers as different from everything.
    if (hasOther && code(column, number) == known.get(column)) {
      HashMap<Double, Integer> codes = added.get(column);
      codes.put(number + 0.0, known.get(column) + 1 + codes.size());
    }
  }

  /** The same for one column and a few numbers. */
  KnnColumns with(int column, double... numbers) {
    KnnColumns grown = new KnnColumns(this);
    for (double number : numbers) {
      grown.add(column, number);
    }
    grown.headers.set(column, grown.header(column, headers.get(column).type()));
    return grown;
  }

  List<ColumnHeader> headers() {
    return headers;
  }

  int size() {
    return headers.size();
  }

  String name(int column) {
    return names.get(column);
  }

  boolean nominal(int column) {
    return headers.get(column).nominal();
  }

  /** The engine's code of a number where the training column is nominal; NaN is missing. */
  double code(int column, double number) {
    if (Double.isNaN(number)) {
      return number;
    }
    int values = known.get(column);
    if (number >= 0 && number < values && number == Math.rint(number)) {
      return number + 0.0;  // -0.0 equals code 0
    }
    if (!hasOther) {
      return Double.NaN;  // measures that count agreements count a missing value as different already
    }
    Integer code = added.get(column).get(number + 0.0);
    return code != null ? code : values;
  }
}
