// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.example.table.AttributeFactory;
import com.rapidminer.example.table.DoubleArrayDataRow;
import com.rapidminer.example.table.MemoryExampleTable;
import com.rapidminer.tools.Ontology;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A table from which any number of equal example sets are made: Apply Model writes into the set that it gets. */
final class Sheet {
  final List<String> names = new ArrayList<>();
  final List<String> types = new ArrayList<>();
  final List<List<String>> values = new ArrayList<>();  // null for numbers
  final List<double[]> rows = new ArrayList<>();
  String label;

  void column(String name, String type, List<String> mapping) {
    names.add(name);
    types.add(type);
    values.add(mapping);
  }

  boolean nominalLabel() {
    return values.get(names.indexOf(label)) != null;
  }

  ExampleSet set() {
    List<Attribute> attributes = new ArrayList<>();
    for (int c = 0; c < names.size(); c++) {
      int type = Ontology.ATTRIBUTE_VALUE_TYPE.mapName(types.get(c));
      Attribute attribute = AttributeFactory.createAttribute(names.get(c), type);
      if (values.get(c) != null) {
        for (String value : values.get(c)) {
          attribute.getMapping().mapString(value);
        }
      }
      attributes.add(attribute);
    }
    MemoryExampleTable table = new MemoryExampleTable(attributes);
    for (double[] row : rows) {
      table.addDataRow(new DoubleArrayDataRow(row.clone()));
    }
    Map<Attribute, String> roles = new LinkedHashMap<>();
    if (label != null) {
      roles.put(attributes.get(names.indexOf(label)), "label");
    }
    return table.createExampleSet(roles);
  }
}
