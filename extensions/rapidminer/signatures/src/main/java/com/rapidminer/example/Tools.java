// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example;

import com.rapidminer.operator.OperatorException;

/** Checks of example sets. */
public class Tools {
  public static void checkAndCreateIds(ExampleSet set) throws OperatorException {
    throw new UnsupportedOperationException();
  }
}
