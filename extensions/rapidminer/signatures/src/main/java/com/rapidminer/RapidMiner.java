// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer;

/** The program. */
public class RapidMiner {
  public static String getShortVersion() {
    throw new UnsupportedOperationException();
  }
}
