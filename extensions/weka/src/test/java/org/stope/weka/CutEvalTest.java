// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import weka.attributeSelection.AttributeSelection;
import weka.attributeSelection.Ranker;
import weka.attributeSelection.StopeCutEval;
import weka.core.Instance;
import weka.core.Instances;

class CutEvalTest {
  /** Every threshold and every value is tried, and all pairs are counted. */
  private static double bestShare(Instances table, int attribute) {
    double best = 0;
    double all = 0;
    for (Instance at : table) {
      double separated = 0;
      all = 0;
      for (int i = 0; i < table.numInstances(); i++) {
        for (int j = 0; j < i; j++) {
          Instance a = table.instance(i);
          Instance b = table.instance(j);
          boolean differ = a.classValue() != b.classValue();
          double limit = at.value(attribute);
          boolean nominal = table.attribute(attribute).isNominal();
          boolean left = nominal ? a.value(attribute) == limit : a.value(attribute) >= limit;
          boolean right = nominal ? b.value(attribute) == limit : b.value(attribute) >= limit;
          all += differ ? 1 : 0;
          separated += differ && left != right ? 1 : 0;
        }
      }
      best = Math.max(best, separated);
    }
    return best / all;
  }

  @Test
  void theMeritIsTheShareOfPairsThatTheBestCutSeparates() throws Exception {
    Tables.Shape shape = new Tables.Shape();
    shape.rows = 50;
    Instances table = Tables.random(shape, 3);
    StopeCutEval evaluator = new StopeCutEval();
    evaluator.buildEvaluator(table);
    for (int a = 0; a + 1 < table.numAttributes(); a++) {
      assertEquals(bestShare(table, a), evaluator.evaluateAttribute(a), 1e-12, table.attribute(a).name());
    }
  }

  @Test
  void rankerPutsTheAttributeThatDecidesFirst() throws Exception {
    Instances table = Tables.random(new Tables.Shape(), 4);
    for (Instance row : table) {
      row.setClassValue(row.value(2) > 0 ? 0 : 1);
    }
    AttributeSelection selection = new AttributeSelection();
    selection.setEvaluator(new StopeCutEval());
    selection.setSearch(new Ranker());
    selection.SelectAttributes(table);
    assertEquals(2, (int) selection.rankedAttributes()[0][0]);
    assertEquals(1, selection.rankedAttributes()[0][1], 1e-12);
    assertTrue(selection.toResultsString().contains("Best cut"), selection.toResultsString());
  }
}
