// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner.lazy;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.OperatorCapability;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.learner.AbstractLearner;
import com.rapidminer.operator.learner.PredictionModel;
import com.rapidminer.parameter.ParameterType;
import java.util.List;

/** The built-in operator k-NN. */
public class KNNLearner extends AbstractLearner {
  public static final String PARAMETER_K = "k";
  public static final String PARAMETER_WEIGHTED_VOTE = "weighted_vote";

  public KNNLearner(OperatorDescription description) { super(description); }

  @Override
  public Model learn(ExampleSet set) throws OperatorException {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean supportsCapability(OperatorCapability capability) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Class<? extends PredictionModel> getModelClass() {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<ParameterType> getParameterTypes() {
    throw new UnsupportedOperationException();
  }
}
