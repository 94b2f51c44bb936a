// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.tools.math.similarity;

import com.rapidminer.operator.OperatorException;
import com.rapidminer.parameter.ParameterHandler;
import com.rapidminer.parameter.UndefinedParameterError;

/** The measures that parameters choose. */
public class DistanceMeasures {
  public static final int NUMERICAL_MEASURES_TYPE = 2;
  public static final int DIVERGENCES_TYPE = 3;

  public static int getSelectedMeasureType(ParameterHandler handler) throws UndefinedParameterError {
    throw new UnsupportedOperationException();
  }

  public static DistanceMeasure createMeasure(ParameterHandler handler) throws UndefinedParameterError, OperatorException {
    throw new UnsupportedOperationException();
  }
}
