// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.OperatorException;

/** A model that can learn more. */
public abstract class UpdateablePredictionModel extends PredictionModel {
  protected UpdateablePredictionModel(ExampleSet training) { super(training); }

  public abstract void update(ExampleSet set) throws OperatorException;
}
