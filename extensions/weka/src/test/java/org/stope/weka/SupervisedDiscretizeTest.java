// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Utils;
import weka.filters.Filter;
import weka.filters.supervised.attribute.Discretize;
import weka.filters.supervised.attribute.SupervisedDiscretize;

class SupervisedDiscretizeTest {
  private static SupervisedDiscretize fitted(String options, Instances table) throws Exception {
    SupervisedDiscretize filter = new SupervisedDiscretize();
    filter.setOptions(Utils.splitOptions(options));
    filter.setInputFormat(table);
    Filter.useFilter(table, filter);
    return filter;
  }

  private static List<Instances> tables() throws Exception {
    List<Instances> tables = new ArrayList<>();
    for (int seed = 0; seed < 6; seed++) {
      Tables.Shape shape = new Tables.Shape();
      shape.rows = 300;
      shape.missing = seed % 2 * 0.1;
      Instances table = Tables.random(shape, seed);
      for (int i = 0; i < table.numInstances(); i++) { // The class follows from x0 and x1, so that there are cuts.
        Instance row = table.instance(i);
        row.setClassValue(row.value(0) > 0.3 ? 0 : row.value(1) > 2 ? 1 : 2);
      }
      tables.add(table);
    }
    for (java.io.File file : Tables.shared("anneal.orig", "credit.a", "heart.c", "heart.h", "hepatitis")) {
      tables.add(Tables.read(file));
    }
    for (java.io.File file : Tables.samples("iris", "glass", "diabetes", "ionosphere", "segment-test", "labor")) {
      tables.add(Tables.read(file));
    }
    return tables;
  }

  @Test
  void mdlpHasTheCutsOfWekasDiscretize() throws Exception {
    int cuts = 0;
    for (Instances table : tables()) {
      Discretize theirs = new Discretize();
      theirs.setInputFormat(table);
      Filter.useFilter(table, theirs);
      SupervisedDiscretize ours = fitted("", table);
      for (int a = 0; a < table.numAttributes(); a++) {
        if (table.attribute(a).isNumeric()) {
          double[] expected = theirs.getCutPoints(a);
          assertArrayEquals(expected == null ? new double[0] : expected, ours.getCutPoints(a), 0,
              table.relationName() + ", " + table.attribute(a));
          cuts += ours.getCutPoints(a).length;
        }
      }
    }
    assertTrue(cuts > 10, "only " + cuts + " cuts: the test says nothing");
  }

  @Test
  void everyMethodCodesEachValueByTheCutsBelowIt() throws Exception {
    Instances table = tables().get(1);
    for (weka.core.Tag tag : SupervisedDiscretize.TAGS_METHOD) {
      String method = tag.getIDStr();
      SupervisedDiscretize filter = fitted("-M " + method, table);
      Instances coded = Filter.useFilter(table, filter);
      int intervals = 0;
      for (int a = 0; a + 1 < table.numAttributes(); a++) {
        double[] cuts = filter.getCutPoints(a);
        if (!table.attribute(a).isNumeric()) {
          assertNull(cuts, method);
          assertEquals(table.attribute(a), coded.attribute(a), method);
          continue;
        }
        assertEquals(cuts.length + 1, coded.attribute(a).numValues(), method);
        intervals += cuts.length;
        for (int i = 0; i < table.numInstances(); i++) {
          double value = table.instance(i).value(a);
          int below = 0;
          for (double cut : cuts) {
            below += value >= cut ? 1 : 0;
          }
          assertEquals(Double.isNaN(value) ? Double.NaN : below, coded.instance(i).value(a), method + ", row " + i);
        }
      }
      assertTrue(intervals > 0, method);
    }
  }

  @Test
  void theRangeChoosesAttributes() throws Exception {
    Instances table = tables().get(0);
    SupervisedDiscretize filter = fitted("-M best-cut -R 2", table);
    assertNull(filter.getCutPoints(0));
    assertEquals(1, filter.getCutPoints(1).length);
    filter = fitted("-M best-cut -V -R 2", table);
    assertNull(filter.getCutPoints(1));
    assertNotNull(filter.getCutPoints(0));
  }

  @Test
  void laterBatchesAreCodedByTheCutsOfTheFirst() throws Exception {
    Instances table = tables().get(0);
    SupervisedDiscretize filter = fitted("", Tables.half(table, 0));
    double[] cuts = filter.getCutPoints(0);
    Instances coded = Filter.useFilter(Tables.half(table, 1), filter);
    assertArrayEquals(cuts, filter.getCutPoints(0), 0);
    assertEquals(Tables.half(table, 1).numInstances(), coded.numInstances());
    assertEquals(cuts.length + 1, coded.attribute(0).numValues());
  }

  @Test
  void aValueThatEqualsACutIsInTheIntervalAboveIt() throws Exception {
    Instances table = tables().get(0);
    SupervisedDiscretize filter = fitted("-M best-cut", table);
    Instances later = new Instances(table, 0, 2);
    later.instance(0).setValue(0, filter.getCutPoints(0)[0]);
    later.instance(1).setValue(0, Math.nextDown(filter.getCutPoints(0)[0]));
    Instances coded = Filter.useFilter(later, filter);
    assertEquals(1, coded.instance(0).value(0));
    assertEquals(0, coded.instance(1).value(0));
  }

  @Test
  void intervalsOfCutsThatReadTheSameStayApart() throws Exception {
    Instances table = tables().get(0);
    for (int i = 0; i < table.numInstances(); i++) {
      table.instance(i).setValue(0, 1e-9 * i);
      table.instance(i).setClassValue(i / 100);
    }
    Instances coded = Filter.useFilter(table, fitted("-M md-local", table));
    assertEquals(3, coded.attribute(0).numValues());
    assertFalse(coded.attribute(0).value(1).contains("[0-0)"), coded.attribute(0).toString());
  }

  @Test
  void textsPassThrough() throws Exception {
    Instances table = new Instances(tables().get(0), 0, 60);
    table.insertAttributeAt(new weka.core.Attribute("note", (List<String>) null), 0);
    for (int i = 0; i < table.numInstances(); i++) {
      table.instance(i).setValue(0, "note " + i);
    }
    Instances coded = Filter.useFilter(table, fitted("", table));
    assertEquals("note 59", coded.instance(59).stringValue(0));
  }
}
