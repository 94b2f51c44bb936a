// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.OperatorException;

/** A model that predicts row by row. */
public abstract class SimplePredictionModel extends PredictionModel {
  protected SimplePredictionModel(ExampleSet training) { super(training); }

  @Override
  public ExampleSet performPrediction(ExampleSet set, Attribute predicted) throws OperatorException {
    throw new UnsupportedOperationException();
  }
}
