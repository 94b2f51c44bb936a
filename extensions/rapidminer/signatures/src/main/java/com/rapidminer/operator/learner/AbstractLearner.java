// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner;

import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.ports.InputPort;

/** What all learners share. */
public abstract class AbstractLearner extends Operator implements Learner {
  public AbstractLearner(OperatorDescription description) { super(description); }

  @Override
  public void doWork() throws OperatorException {
    throw new UnsupportedOperationException();
  }

  public InputPort getExampleSetInputPort() {
    throw new UnsupportedOperationException();
  }

  public Class<? extends PredictionModel> getModelClass() {
    throw new UnsupportedOperationException();
  }
}
