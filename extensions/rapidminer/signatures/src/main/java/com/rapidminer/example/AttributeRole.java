// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example;

import java.io.Serializable;

/** An attribute and what it is for. */
public class AttributeRole implements Serializable {
  public Attribute getAttribute() {
    throw new UnsupportedOperationException();
  }
}
