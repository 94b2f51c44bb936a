// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.nio.DoubleBuffer;
import java.util.Iterator;
import java.util.List;
import org.stope.rapidminer.engine.BlockSource;

/** The rows of an example set, one pass in its own order. */
final class ExampleRows implements BlockSource {
  private final Attribute[] attributes;
  private final Iterator<Example> rows;
  // hasNext() of a filtered or sampled set may say true again after it has said false.
  private boolean ended;

  ExampleRows(ExampleSet set, List<Attribute> attributes) {
    this.attributes = attributes.toArray(new Attribute[0]);
    this.rows = set.iterator();
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
      for (Attribute attribute : attributes) {
        to.put(example.getValue(attribute));
      }
      taken++;
    }
    return taken;
  }
}
