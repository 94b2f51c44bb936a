// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example.table;

import java.io.Serializable;
import java.util.List;

/** The values of a nominal attribute, in the order of their indices. */
public interface NominalMapping extends Cloneable, Serializable {
  int mapString(String value);

  List<String> getValues();
}
