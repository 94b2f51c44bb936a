// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example.table;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;

/** The memory of an example set. */
public interface ExampleTable {
  int addAttribute(Attribute attribute);

  ExampleSet createExampleSet();
}
