// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.stope.rapidminer.engine.ColumnHeader;

/**
 * The training columns of a k-NN model. Nominal columns whose measure only asks whether two values are equal get one
 * value more than RapidMiner's, which no training row has: RapidMiner compares a number with a nominal value where an
 * attribute has another type at application, and a number that is no code must differ from all values.
 */
final class KnnColumns implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String OTHER = "\u0001other";

  private final ArrayList<ColumnHeader> headers = new ArrayList<ColumnHeader>();
  private final boolean hasOther;

  KnnColumns(ExampleSet training, String metric) {
    hasOther = Measures.skipsMissingNominal(metric);
    for (Attribute attribute : training.getAttributes()) {
      headers.add(header(attribute));
    }
  }

  private ColumnHeader header(Attribute attribute) {
    ColumnHeader plain = Columns.header(attribute, ColumnHeader.Role.REGULAR);
    if (!plain.nominal() || !hasOther) {
      return plain;
    }
    List<String> values = new ArrayList<String>(plain.values());
    String other = OTHER;
    while (values.contains(other)) {
      other += OTHER;
    }
    values.add(other);
    return new ColumnHeader(plain.name(), plain.role(), ColumnHeader.Type.NOMINAL, values);
  }

  List<ColumnHeader> headers() {
    return headers;
  }

  int size() {
    return headers.size();
  }

  String name(int column) {
    return headers.get(column).name();
  }

  boolean nominal(int column) {
    return headers.get(column).nominal();
  }

  /** The code of a number where the training column is nominal; NaN is missing. */
  double code(int column, double number) {
    if (Double.isNaN(number)) {
      return number;
    }
    int known = headers.get(column).values().size() - (hasOther ? 1 : 0);
    if (number >= 0 && number < known && number == Math.rint(number)) {
      return number + 0.0;  // -0.0 equals code 0
    }
    // Measures that count agreements count a missing value as different already.
    return hasOther ? known : Double.NaN;
  }
}
