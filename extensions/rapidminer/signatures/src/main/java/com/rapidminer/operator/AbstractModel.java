// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

import com.rapidminer.example.ExampleSet;

/** What all models share. */
public abstract class AbstractModel extends ResultObjectAdapter implements Model {
  protected AbstractModel(ExampleSet training) {}

  public void setParameter(String key, Object value) throws OperatorException {
    throw new UnsupportedOperationException();
  }
}
