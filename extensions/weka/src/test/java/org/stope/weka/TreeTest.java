// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stope.Options;
import org.stope.Table;
import org.stope.Tree;
import weka.classifiers.trees.StopeTree;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.SerializedObject;
import weka.core.Utils;
import weka.gui.treevisualizer.Node;
import weka.gui.treevisualizer.TreeBuild;

class TreeTest {
  private static List<Integer> features(Instances table) {
    List<Integer> features = new ArrayList<>();
    for (int a = 0; a + 1 < table.numAttributes(); a++) {
      features.add(a);
    }
    return features;
  }

  private static Instances table(long seed) {
    Tables.Shape shape = new Tables.Shape();
    shape.rows = 150;
    shape.nominal = 3;
    shape.missing = seed % 3 == 0 ? 0 : 0.15;
    shape.coarse = seed % 2 == 0;
    shape.weighted = seed % 4 >= 2;
    shape.odd = seed == 6; // Its empty attribute leaves no row where rows with missing values are dropped.
    return Tables.random(shape, seed);
  }

  /** The engine's own prediction of rows without weights is the reference. */
  private static void compare(Instances table, String options, Options engineOptions) throws Exception {
    Instances training = Tables.half(table, 0);
    Instances test = Tables.half(table, 1);
    StopeTree ours = new StopeTree();
    ours.setOptions(Utils.splitOptions(options));
    ours.buildClassifier(training);
    for (int i = 0; i < test.numInstances(); i++) {
      test.instance(i).setWeight(1);
    }
    try (Table train = EngineTable.of(training, features(table));
        Table rows = EngineTable.of(test, features(table));
        Tree tree = Tree.fit(train, engineOptions, null);
        Table expected = tree.predictWithConfidences(rows, null)) {
      assertEquals(tree.nodes().rows(), ours.getMeasure("measureTreeSize"), options);
      for (int i = 0; i < test.numInstances(); i++) {
        double[] actual = ours.distributionForInstance(test.instance(i));
        for (int c = 0; c < actual.length; c++) {
          assertEquals(expected.column("confidence(" + c + ")")[i], actual[c], 0, options + ", row " + i);
        }
      }
    }
  }

  @Test
  void predictionsAreTheEnginesForEveryPolicyOfMissingValues() throws Exception {
    for (int seed = 0; seed < 12; seed++) {
      for (String missing : new String[] {"value", "fill", "drop"}) {
        if (seed == 6 && missing.equals("drop")) {
          continue;
        }
        compare(table(seed), "-missing " + missing, Options.of("missing", missing));
        compare(table(seed), "-depth 2 -missing " + missing, Options.of("missing", missing, "max_depth", "2"));
      }
    }
    compare(table(3), "-missing error", Options.of("missing", "error"));
  }

  @Test
  void predictionsAreTheEnginesForEveryOption() throws Exception {
    Instances table = table(4);
    compare(table, "-criterion gini", Options.of("missing", "value", "criterion", "gini"));
    compare(table, "-criterion entropy -M 5", Options.of("missing", "value", "criterion", "entropy", "min_samples_leaf", "5"));
    compare(table, "-min-score 40", Options.of("missing", "value", "min_score", "40"));
    compare(table, "-balanced -ccp-alpha 0.01", Options.of("missing", "value", "balanced", "true", "ccp_alpha", "0.01"));
    compare(table, "-prune-holdout 0.3 -S 7", Options.of("missing", "value", "prune_holdout", "0.3", "seed", "7"));
  }

  @Test
  void weightsOfInstancesCountAsMany() throws Exception {
    Instances table = table(0);
    Instances twice = new Instances(table, table.numInstances() * 2);
    Instances weighted = new Instances(table);
    for (Instance row : table) {
      twice.add(row);
      twice.add(row);
    }
    for (int i = 0; i < weighted.numInstances(); i++) {
      weighted.instance(i).setWeight(2);
    }
    StopeTree one = new StopeTree();
    StopeTree two = new StopeTree();
    one.buildClassifier(twice);
    two.buildClassifier(weighted);
    assertEquals(one.graph(), two.graph());
  }

  @Test
  void wekasTreeVisualizerReadsTheGraph() throws Exception {
    Instances table = table(1);
    table.renameAttribute(0, "it's \"odd\" \\ [x]");
    StopeTree tree = new StopeTree();
    tree.setMaxDepth(3);
    tree.buildClassifier(table);
    Node root = new TreeBuild().create(new java.io.StringReader(tree.graph()));
    assertEquals((int) tree.getMeasure("measureTreeSize"), Node.getCount(root, 0), tree.graph());
    assertTrue(tree.toString().contains("Number of Leaves"), tree.toString());
  }

  @Test
  void aPureTableIsOneLeaf() throws Exception {
    Instances table = table(0);
    for (int i = 0; i < table.numInstances(); i++) {
      table.instance(i).setClassValue(1);
    }
    StopeTree tree = new StopeTree();
    tree.buildClassifier(table);
    assertArrayEquals(new double[] {0, 1, 0}, tree.distributionForInstance(table.instance(0)), 0);
    assertTrue(tree.toString().contains(": v (150"), tree.toString());
  }

  @Test
  void aSerialisedTreePredictsTheSame() throws Exception {
    Instances table = table(5);
    StopeTree tree = new StopeTree();
    tree.buildClassifier(table);
    StopeTree copy = (StopeTree) new SerializedObject(tree).getObject();
    for (Instance row : table) {
      assertArrayEquals(tree.distributionForInstance(row), copy.distributionForInstance(row), 0);
    }
    assertEquals(tree.graph(), copy.graph());
  }
}
