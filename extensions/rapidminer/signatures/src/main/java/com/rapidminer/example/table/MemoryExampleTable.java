// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example.table;

import com.rapidminer.example.Attribute;
import java.util.List;

/** A table in memory. */
public class MemoryExampleTable extends AbstractExampleTable {
  public MemoryExampleTable(List<Attribute> attributes) {}

  public void addDataRow(DataRow row) {
    throw new UnsupportedOperationException();
  }
}
