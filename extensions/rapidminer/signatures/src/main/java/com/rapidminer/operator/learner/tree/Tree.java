// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner.tree;

import com.rapidminer.example.ExampleSet;
import java.io.Serializable;

/** A node of a tree, with all below it. */
public class Tree implements Serializable {
  public Tree(ExampleSet training) {}

  public void addChild(Tree child, SplitCondition condition) {
    throw new UnsupportedOperationException();
  }

  public void addCount(String label, int count) {
    throw new UnsupportedOperationException();
  }

  public void setLeaf(String label) {
    throw new UnsupportedOperationException();
  }
}
