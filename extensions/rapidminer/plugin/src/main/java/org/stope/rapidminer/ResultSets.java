// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.example.table.AttributeFactory;
import com.rapidminer.example.table.DoubleArrayDataRow;
import com.rapidminer.example.table.MemoryExampleTable;
import com.rapidminer.tools.Ontology;
import java.util.ArrayList;
import java.util.List;
import org.stope.rapidminer.engine.ResultTable;

/** Tables of results as example sets. */
final class ResultSets {
  private ResultSets() {}

  static ExampleSet of(ResultTable table) {
    List<Attribute> attributes = new ArrayList<Attribute>();
    for (int c = 0; c < table.columns(); c++) {
      Attribute attribute =
          AttributeFactory.createAttribute(table.name(c), table.nominal(c) ? Ontology.NOMINAL : Ontology.REAL);
      if (table.nominal(c)) {
        for (String value : table.values(c)) {
          attribute.getMapping().mapString(value);
        }
      }
      attributes.add(attribute);
    }
    MemoryExampleTable made = new MemoryExampleTable(attributes);
    for (int r = 0; r < table.rows(); r++) {
      double[] row = new double[table.columns()];
      for (int c = 0; c < row.length; c++) {
        row[c] = table.column(c)[r];
      }
      made.addDataRow(new DoubleArrayDataRow(row));
    }
    return made.createExampleSet();
  }
}
