// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example.set;

import com.rapidminer.example.ExampleSet;

/** What all kinds of example sets share. */
public abstract class AbstractExampleSet implements ExampleSet {
  @Override
  public String getName() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Object clone() {
    throw new UnsupportedOperationException();
  }
}
