// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.io.Serializable;
import java.util.List;
import org.stope.Model;
import org.stope.Table;
import weka.core.Attribute;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Utils;

/**
 * A tree of the engine in arrays, which predicts without the engine by the engine's rules (docs/numerics/tree.md). It has
 * no memory outside Java's heap, and can be serialised.
 */
public final class PlainTree implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final double UNKNOWN = -1; // A value that a later header has added: none of those that were split off.

  private final String missing;
  private final int[] attribute; // By node, in preorder: the tested attribute of WEKA's table; -1 in a leaf.
  private final int[] value; // The value that goes right, if the attribute is nominal.
  private final double[] cut; // The lowest number that goes right, if it is numeric.
  private final int[] right; // The node of rows that go right; the left one is the next.
  private final double[] rows;
  private final double[][] counts;
  private final double[] fill; // By attribute of WEKA's table.
  private final Instances header;

  /**
   * Copies a fitted tree.
   *
   * @param features numbers of WEKA's attributes, in the order of the tree's
   * @param missing the tree's option of this name
   */
  public PlainTree(Model model, Instances header, List<Integer> features, String missing) {
    this.header = new Instances(header, 0);
    this.missing = missing;
    fill = new double[header.numAttributes()];
    try (Table attributes = model.table("attributes"); Table nodes = model.table("nodes")) {
      double[] fills = attributes.column("fill");
      int n = (int) nodes.rows();
      for (int i = 0; i < fills.length; i++) {
        Attribute own = header.attribute(features.get(i));
        // Under "value", the engine's code behind all values is the missing one.
        fill[own.index()] = missing.equals("value") && own.isNominal() ? Math.max(1, own.numValues()) : fills[i];
      }
      double[] parent = nodes.column("parent");
      double[] tested = nodes.column("attribute");
      double[] values = nodes.column("value");
      cut = nodes.column("cut");
      rows = nodes.column("n_rows");
      attribute = new int[n];
      value = new int[n];
      right = new int[n];
      counts = new double[n][header.numClasses()];
      for (int node = 0; node < n; node++) {
        attribute[node] = tested[node] < 0 ? -1 : features.get((int) tested[node]);
        value[node] = (int) values[node];
        if (node > 0 && parent[node] != node - 1) {
          right[(int) parent[node]] = node; // In preorder, the child that does not follow its parent is the right one.
        }
      }
      try (Table classes = model.table("classes")) {
        for (int c = 0; c < classes.rows(); c++) {
          int code = Integer.parseInt(classes.text(c, 0));
          double[] column = nodes.column("count " + c);
          for (int node = 0; node < n; node++) {
            counts[node][code] = column[node];
          }
        }
      }
    }
  }

  /** Gives the share of each class in the row's leaf; zeros, which WEKA calls unclassified, under the policy "drop". */
  public double[] distribution(Instance row) {
    if (row.numAttributes() != header.numAttributes()) {
      throw new IllegalArgumentException("the instance has " + row.numAttributes() + " attributes, and the tree was grown on "
          + header.numAttributes() + ": give it a table with the same header");
    }
    int node = 0;
    if (missing.equals("drop") && lacksTested(row)) {
      return new double[header.numClasses()];
    }
    while (attribute[node] >= 0) {
      int a = attribute[node];
      double x = row.value(a);
      if (Double.isNaN(x)) {
        if (missing.equals("error")) {
          throw new IllegalArgumentException("'" + header.attribute(a).name()
              + "' is missing, and the tree was grown with -missing error: choose value or fill");
        }
        x = fill[a];
      } else if (header.attribute(a).isNominal() && x >= header.attribute(a).numValues()) {
        x = UNKNOWN;
      }
      boolean goesRight = header.attribute(a).isNominal() ? x == value[node] : x >= cut[node];
      node = goesRight ? right[node] : node + 1;
    }
    double[] shares = counts[node].clone();
    double sum = 0;
    for (double count : shares) {
      sum += count;
    }
    for (int c = 0; c < shares.length; c++) {
      shares[c] = sum > 0 ? shares[c] / sum : 0;
    }
    return shares;
  }

  private boolean lacksTested(Instance row) {
    for (int a : attribute) {
      if (a >= 0 && row.isMissing(a)) {
        return true;
      }
    }
    return false;
  }

  /** Counts the leaves. */
  public int leaves() {
    int leaves = 0;
    for (int a : attribute) {
      leaves += a < 0 ? 1 : 0;
    }
    return leaves;
  }

  /** Counts all nodes. */
  public int nodes() {
    return attribute.length;
  }

  private String condition(int node, boolean goesRight) {
    Attribute tested = header.attribute(attribute[node]);
    if (tested.isNominal()) {
      boolean isMissing = value[node] >= tested.numValues();
      return isMissing ? (goesRight ? "missing" : "present")
          : (goesRight ? "= " : "!= ") + tested.value(value[node]);
    }
    if (cut[node] == Double.NEGATIVE_INFINITY) {
      return goesRight ? "present" : "missing";
    }
    return (goesRight ? ">= " : "< ") + CutText.of(tested, cut[node]);
  }

  private String leaf(int node) {
    double others = Utils.sum(counts[node]) - counts[node][Utils.maxIndex(counts[node])];
    return header.classAttribute().value(Utils.maxIndex(counts[node])) + " ("
        + Utils.doubleToString(Utils.sum(counts[node]), 2) + (others > 0 ? "/" + Utils.doubleToString(others, 2) : "") + ")";
  }

  /** Writes a line a branch, indented, as WEKA's trees do. A leaf has its weight and that of other classes. */
  public String text() {
    StringBuilder text = new StringBuilder();
    if (attribute[0] < 0) {
      return text.append(": ").append(leaf(0)).append('\n').toString();
    }
    int[] depth = new int[attribute.length];
    int[] above = new int[attribute.length];
    for (int node = 0; node < attribute.length; node++) {
      if (node > 0) {
        for (int i = 1; i < depth[node]; i++) {
          text.append("|   ");
        }
        int from = above[node];
        text.append(header.attribute(attribute[from]).name()).append(' ').append(condition(from, node == right[from]));
        text.append(attribute[node] < 0 ? ": " + leaf(node) : "").append('\n');
      }
      if (attribute[node] >= 0) {
        for (int child : new int[] {node + 1, right[node]}) {
          depth[child] = depth[node] + 1;
          above[child] = node;
        }
      }
    }
    return text.toString();
  }

  /** Writes the tree in the dot language, as WEKA's tree visualizer reads it. */
  public String dot() {
    StringBuilder dot = new StringBuilder("digraph StopeTree {\n");
    for (int node = 0; node < attribute.length; node++) {
      if (attribute[node] < 0) {
        dot.append('N').append(node).append(" [label=\"").append(quoted(leaf(node))).append("\" shape=box style=filled ]\n");
        continue;
      }
      String name = quoted(header.attribute(attribute[node]).name());
      dot.append('N').append(node).append(" [label=\"").append(name).append("\" ]\n");
      for (int child : new int[] {node + 1, right[node]}) {
        String condition = quoted(condition(node, child == right[node]));
        dot.append('N').append(node).append("->N").append(child).append(" [label=\"").append(condition).append("\"]\n");
      }
    }
    return dot.append("}\n").toString();
  }

  private static String quoted(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\r", "\\r");
  }
}
