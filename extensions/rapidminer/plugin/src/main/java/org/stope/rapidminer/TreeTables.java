// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.learner.tree.SplitCondition;
import com.rapidminer.operator.learner.tree.Tree;
import java.util.ArrayList;
import java.util.List;
import org.stope.rapidminer.engine.EngineException;
import org.stope.rapidminer.engine.FittedModel;
import org.stope.rapidminer.engine.ResultTable;

/** The tables of a tree in the engine (docs/formats/models.md), and the tree in RapidMiner that they describe. */
final class TreeTables {
  private static final double MOST_COUNTED = 1e9;

  private final ResultTable attributes;
  private final ResultTable values;
  private final ResultTable classes;
  private final ResultTable nodes;

  TreeTables(FittedModel model) throws EngineException {
    attributes = model.part("attributes");
    values = model.part("values");
    classes = model.part("classes");
    nodes = model.part("nodes");
  }

  /** {@code missingIsValue}: the last value of a symbolic attribute that had missing ones stands for them. */
  Tree toTree(ExampleSet training, boolean missingIsValue) {
    List<Attribute> tested = attributes(missingIsValue);
    double[] parent = nodes.column("parent");
    double[] attribute = nodes.column("attribute");
    Tree[] made = new Tree[nodes.rows()];
    for (int node = 0; node < made.length; node++) {
      made[node] = new Tree(training);
      if (attribute[node] < 0) {
        fillLeaf(made[node], node);
      }
    }
    // Nodes stand in preorder, so a node's first child is the left one.
    boolean[] hasLeft = new boolean[made.length];
    for (int node = 1; node < made.length; node++) {
      int above = (int) parent[node];
      boolean right = hasLeft[above];
      hasLeft[above] = true;
      SplitCondition condition = tested.get((int) attribute[above]).condition(above, right, nodes);
      made[above].addChild(made[node], condition);
    }
    return made[0];
  }

  private void fillLeaf(Tree leaf, int node) {
    int name = classes.index("class");
    double[] weights = new double[classes.rows()];
    for (int c = 0; c < weights.length; c++) {
      weights[c] = nodes.column("count " + c)[node];
    }
    int[] counts = counts(weights);
    for (int c = 0; c < counts.length; c++) {
      if (counts[c] > 0) {
        leaf.addCount(classes.text(c, name), counts[c]);
      }
    }
    leaf.setLeaf(classes.text((int) nodes.column("majority")[node], name));
  }

  /**
   * RapidMiner's leaves count in int, and confidences are shares of these counts. Sums of fractional weights are
   * multiplied by a power of ten, so that the shares are right to 1e-6.
   */
  static int[] counts(double[] weights) {
    double sum = 0;
    boolean whole = true;
    for (double weight : weights) {
      sum += weight;
      whole &= weight == Math.rint(weight);
    }
    double factor = whole && sum <= MOST_COUNTED || !(sum > 0) ? 1
        : Math.pow(10, Math.floor(Math.log10(MOST_COUNTED / sum)));
    int[] counts = new int[weights.length];
    for (int c = 0; c < counts.length; c++) {
      counts[c] = (int) Math.round(weights[c] * factor);
    }
    return counts;
  }

  private List<Attribute> attributes(boolean missingIsValue) {
    List<Attribute> all = new ArrayList<Attribute>();
    int name = attributes.index("name");
    int value = values.index("value");
    int used = 0;
    for (int row = 0; row < attributes.rows(); row++) {
      Attribute made = new Attribute();
      made.name = attributes.text(row, name);
      made.fill = attributes.column("fill")[row];
      int count = (int) attributes.column("n_values")[row];
      for (int i = 0; i < count; i++) {
        made.values.add(values.text(used + i, value));
      }
      used += count;
      if (missingIsValue && count > 0 && attributes.column("has_missing")[row] == 1) {
        made.values.set(count - 1, null);
      }
      all.add(made);
    }
    return all;
  }

  /** An attribute that the tree may test. */
  private static final class Attribute {
    private String name;
    private double fill;
    private final List<String> values = new ArrayList<String>();

    SplitCondition condition(int node, boolean right, ResultTable nodes) {
      if (values.isEmpty()) {
        return new CutCondition(name, nodes.column("cut")[node], right, fill);
      }
      String value = values.get((int) nodes.column("value")[node]);
      return new ValueCondition(name, value, right, Double.isNaN(fill) ? null : values.get((int) fill));
    }
  }
}
