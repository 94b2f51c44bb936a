// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.tools.math.similarity;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.parameter.ParameterHandler;
import java.io.Serializable;

/** A measure of distance. */
public abstract class DistanceMeasure implements Serializable {
  public void init(ExampleSet set, ParameterHandler handler) throws OperatorException {
    throw new UnsupportedOperationException();
  }
}
