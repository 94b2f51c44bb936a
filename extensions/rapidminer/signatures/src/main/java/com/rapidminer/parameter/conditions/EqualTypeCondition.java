// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.parameter.conditions;

import com.rapidminer.parameter.ParameterHandler;

/** A parameter is shown where another one has one of some values. */
public class EqualTypeCondition extends ParameterCondition {
  public EqualTypeCondition(ParameterHandler handler, String key, String[] options, boolean mandatory, int... types) {}
}
