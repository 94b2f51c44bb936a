// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer;

import com.rapidminer.operator.Operator;

/** A process that runs. */
public class Process {
  public Operator getCurrentOperator() {
    throw new UnsupportedOperationException();
  }

  public boolean shouldStop() {
    throw new UnsupportedOperationException();
  }
}
