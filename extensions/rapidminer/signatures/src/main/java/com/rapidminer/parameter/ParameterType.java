// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.parameter;

import com.rapidminer.parameter.conditions.ParameterCondition;

/** A parameter of an operator. */
public abstract class ParameterType {
  public void setExpert(boolean expert) {
    throw new UnsupportedOperationException();
  }

  public void registerDependencyCondition(ParameterCondition condition) {
    throw new UnsupportedOperationException();
  }
}
