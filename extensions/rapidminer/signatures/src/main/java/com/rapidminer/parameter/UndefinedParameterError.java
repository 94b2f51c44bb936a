// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.parameter;

import com.rapidminer.operator.UserError;

/** A parameter without a value. */
public class UndefinedParameterError extends UserError {
  public UndefinedParameterError(String key) { super(null, key); }
}
