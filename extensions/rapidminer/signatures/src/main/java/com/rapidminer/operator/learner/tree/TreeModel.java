// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner.tree;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.learner.SimplePredictionModel;

/** A tree that predicts. */
public class TreeModel extends SimplePredictionModel {
  public TreeModel(ExampleSet training, Tree root) { super(training); }
}
