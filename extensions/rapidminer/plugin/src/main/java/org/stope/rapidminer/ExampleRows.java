// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.nio.DoubleBuffer;
import java.util.List;

/** Some attributes of an example set, as they are. */
final class ExampleRows extends ExampleSource {
  private final Attribute[] attributes;

  ExampleRows(ExampleSet set, List<Attribute> attributes) {
    super(set);
    this.attributes = attributes.toArray(new Attribute[0]);
  }

  @Override
  public int columns() {
    return attributes.length;
  }

  @Override
  void put(Example example, DoubleBuffer to) {
    for (Attribute attribute : attributes) {
      to.put(example.getValue(attribute));
    }
  }
}
