// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.nio.DoubleBuffer;

/** The rows that a k-NN model is applied to, in the order of its training columns. */
final class KnnQueries extends ExampleSource {
  private final KnnColumns columns;
  private final Attribute[] attributes;

  /** Attributes are found by name, among special ones, too. One that is not there gives missing values. */
  KnnQueries(KnnColumns columns, ExampleSet set) {
    super(set);
    this.columns = columns;
    attributes = new Attribute[columns.size()];
    for (int c = 0; c < columns.size(); c++) {
      attributes[c] = set.getAttributes().get(columns.name(c));
    }
  }

  @Override
  public int columns() {
    return attributes.length;
  }

  @Override
  void put(Example example, DoubleBuffer to) {
    for (int c = 0; c < attributes.length; c++) {
      double value = attributes[c] == null ? Double.NaN : example.getValue(attributes[c]);
      // A mapping that both sets share may have grown since the training; numbers may be anything.
      to.put(columns.nominal(c) ? columns.code(c, value) : value);
    }
  }
}
