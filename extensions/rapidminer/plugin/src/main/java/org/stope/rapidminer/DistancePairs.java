// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.example.set.SortedExampleSet;
import com.rapidminer.example.table.AttributeFactory;
import com.rapidminer.example.table.DoubleArrayDataRow;
import com.rapidminer.example.table.MemoryExampleTable;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.tools.Ontology;
import java.util.Arrays;
import org.stope.rapidminer.engine.ResultTable;

/** The table of Cross Distances: the ids of a request and a reference, and the distance between them. */
final class DistancePairs {
  private static final int ROWS_BETWEEN_LOOKS = 1000;

  private final Operator operator;
  private int sinceLook;
  private final Ids requests;
  private final Ids references;
  private final Attribute distance = AttributeFactory.createAttribute("distance", Ontology.REAL);
  private final MemoryExampleTable table;

  DistancePairs(Operator operator, ExampleSet requestSet, ExampleSet referenceSet) {
    this.operator = operator;
    requests = new Ids("request", requestSet);
    references = new Ids("document", referenceSet);
    table = new MemoryExampleTable(Arrays.asList(requests.attribute, references.attribute, distance));
  }

  /** The engine's pairs, whose rows count from 0. */
  void add(ResultTable result) throws OperatorException {
    double[] request = result.column("request");
    double[] document = result.column("document");
    double[] value = result.column("distance");
    for (int row = 0; row < result.rows(); row++) {
      lookSometimes();
      add((int) request[row], (int) document[row], value[row]);
    }
  }

  /** Pairs of unknown distance. */
  void addMissing(int referencesPerRequest) throws OperatorException {
    for (int request = 0; request < requests.values.length; request++) {
      for (int reference = 0; reference < referencesPerRequest; reference++) {
        lookSometimes();
        add(request, reference, Double.NaN);
      }
    }
  }

  private void lookSometimes() throws OperatorException {
    if (++sinceLook == ROWS_BETWEEN_LOOKS) {
      sinceLook = 0;
      operator.checkForStop();
    }
  }

  private void add(int request, int reference, double value) {
    table.addDataRow(new DoubleArrayDataRow(new double[] {requests.of(request), references.of(reference), value}));
  }

  /** RapidMiner's own sorting, whose ties the built-in operator has, too. */
  ExampleSet sorted(boolean decreasing) {
    return new SortedExampleSet(table.createExampleSet(), distance,
        decreasing ? SortedExampleSet.DECREASING : SortedExampleSet.INCREASING);
  }

  /** The ids of a set, as values of a new attribute of the same type. */
  private static final class Ids {
    private final Attribute attribute;
    private final double[] values;
    private final String[] names;

    Ids(String name, ExampleSet set) {
      Attribute id = set.getAttributes().getId();
      attribute = AttributeFactory.createAttribute(name, id.getValueType());
      values = new double[set.size()];
      names = id.isNominal() ? new String[set.size()] : null;
      int row = 0;
      for (Example example : set) {
        values[row] = example.getValue(id);
        if (names != null) {
          names[row] = example.getValueAsString(id);
        }
        row++;
      }
    }

    double of(int row) {
      return names == null ? values[row] : attribute.getMapping().mapString(names[row]);
    }
  }
}
