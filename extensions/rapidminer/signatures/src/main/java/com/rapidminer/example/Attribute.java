// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example;

import com.rapidminer.example.table.NominalMapping;
import java.io.Serializable;

/** A column of an example set. */
public interface Attribute extends Cloneable, Serializable {
  String getName();

  int getValueType();

  boolean isNominal();

  boolean isNumerical();

  NominalMapping getMapping();
}
