// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example.set;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Attributes;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.example.table.ExampleTable;
import java.util.Iterator;

/** An example set in the order of an attribute. */
public class SortedExampleSet extends AbstractExampleSet {
  public static final int INCREASING = 0;
  public static final int DECREASING = 1;

  public SortedExampleSet(ExampleSet set, Attribute by, int direction) {}

  @Override
  public Attributes getAttributes() {
    throw new UnsupportedOperationException();
  }

  @Override
  public ExampleTable getExampleTable() {
    throw new UnsupportedOperationException();
  }

  @Override
  public int size() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Iterator<Example> iterator() {
    throw new UnsupportedOperationException();
  }
}
