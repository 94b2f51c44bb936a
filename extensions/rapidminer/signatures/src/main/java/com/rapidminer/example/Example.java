// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example;

import java.io.Serializable;

/** A row of an example set. */
public class Example implements Serializable {
  public Attributes getAttributes() {
    throw new UnsupportedOperationException();
  }

  public double getValue(Attribute attribute) {
    throw new UnsupportedOperationException();
  }

  public String getNominalValue(Attribute attribute) {
    throw new UnsupportedOperationException();
  }

  public String getValueAsString(Attribute attribute) {
    throw new UnsupportedOperationException();
  }

  public void setValue(Attribute attribute, double value) {
    throw new UnsupportedOperationException();
  }
}
