// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.nio.DoubleBuffer;
import java.util.Iterator;
import org.stope.rapidminer.engine.BlockSource;

/** The rows that a k-NN model is applied to, in the order of its training columns. */
final class KnnQueries implements BlockSource {
  private final KnnColumns columns;
  private final Attribute[] attributes;
  private final Iterator<Example> rows;
  // See ExampleRows.
  private boolean ended;

  /** Attributes are found by name, among special ones, too. One that is not there gives missing values. */
  KnnQueries(KnnColumns columns, ExampleSet set) {
    this.columns = columns;
    attributes = new Attribute[columns.size()];
    for (int c = 0; c < columns.size(); c++) {
      attributes[c] = set.getAttributes().get(columns.name(c));
    }
    rows = set.iterator();
  }

  @Override
  public int columns() {
    return attributes.length;
  }

  @Override
  public int next(DoubleBuffer to, int most) {
    int taken = 0;
    while (taken < most && !ended) {
      if (!rows.hasNext()) {
        ended = true;
        break;
      }
      Example example = rows.next();
      for (int c = 0; c < attributes.length; c++) {
        double value = attributes[c] == null ? Double.NaN : example.getValue(attributes[c]);
        // A mapping that both sets share may have grown since the training; numbers may be anything.
        to.put(columns.nominal(c) ? columns.code(c, value) : value);
      }
      taken++;
    }
    return taken;
  }
}
