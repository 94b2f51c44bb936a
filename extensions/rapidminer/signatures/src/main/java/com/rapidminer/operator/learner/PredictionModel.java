// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.AbstractModel;
import com.rapidminer.operator.OperatorException;

/** A model that predicts a label. */
public abstract class PredictionModel extends AbstractModel {
  protected PredictionModel(ExampleSet training) { super(training); }

  public abstract ExampleSet performPrediction(ExampleSet set, Attribute predicted) throws OperatorException;

  @Override
  public ExampleSet apply(ExampleSet set) throws OperatorException {
    throw new UnsupportedOperationException();
  }

  public Attribute getLabel() {
    throw new UnsupportedOperationException();
  }
}
