// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

/** An error that a user can do something about; its texts are in UserErrors.properties. */
public class UserError extends OperatorException {
  public UserError(Operator operator, Throwable cause, String id, Object... arguments) { super(null); }

  public UserError(Operator operator, String id, Object... arguments) { super(null); }
}
