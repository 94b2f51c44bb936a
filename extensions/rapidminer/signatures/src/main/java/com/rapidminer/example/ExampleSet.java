// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example;

import com.rapidminer.example.table.ExampleTable;
import com.rapidminer.operator.ResultObject;

/** A table as operators see it. */
public interface ExampleSet extends ResultObject, Cloneable, Iterable<Example> {
  Attributes getAttributes();

  ExampleTable getExampleTable();

  int size();

  Object clone();
}
