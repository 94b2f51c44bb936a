// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.preprocessing;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.AbstractModel;
import com.rapidminer.operator.OperatorException;

/** A model that changes attributes. */
public abstract class PreprocessingModel extends AbstractModel {
  protected PreprocessingModel(ExampleSet training) { super(training); }

  @Override
  public ExampleSet apply(ExampleSet set) throws OperatorException {
    throw new UnsupportedOperationException();
  }
}
