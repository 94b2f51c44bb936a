// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.tools;

import java.util.logging.Logger;

/** The log. */
public class LogService {
  public static Logger getRoot() {
    throw new UnsupportedOperationException();
  }
}
