// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example.table;

import com.rapidminer.example.Attribute;

/** Makes attributes. */
public class AttributeFactory {
  public static Attribute createAttribute(String name, int valueType) {
    throw new UnsupportedOperationException();
  }
}
