// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

/** The user has stopped the process. */
public class ProcessStoppedException extends OperatorException {
  public ProcessStoppedException(Operator operator) { super(null); }
}
