// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.similarity;

import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.parameter.ParameterType;
import java.util.List;

/** The built-in operator Cross Distances. */
public class CrossDistancesOperator extends Operator {
  public static final String PARAMETER_K = "k";
  public static final String PARAMETER_USE_K = "only_top_k";
  public static final String PARAMETER_SEARCH_MODE = "search_for";
  public static final String PARAMETER_COMPUTE_SIMILARITIES = "compute_similarities";

  public CrossDistancesOperator(OperatorDescription description) { super(description); }

  @Override
  public void doWork() throws OperatorException {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<ParameterType> getParameterTypes() {
    throw new UnsupportedOperationException();
  }
}
