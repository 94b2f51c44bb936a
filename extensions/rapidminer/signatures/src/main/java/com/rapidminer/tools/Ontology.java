// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.tools;

/** The types of attributes. */
public class Ontology {
  public static final int NOMINAL = 1;
  public static final int REAL = 4;
  public static final int BINOMINAL = 6;
}
