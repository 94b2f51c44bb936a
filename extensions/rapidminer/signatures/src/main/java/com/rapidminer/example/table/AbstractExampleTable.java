// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example.table;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;

/** What all kinds of tables share. */
public abstract class AbstractExampleTable implements ExampleTable {
  @Override
  public int addAttribute(Attribute attribute) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ExampleSet createExampleSet() {
    throw new UnsupportedOperationException();
  }
}
