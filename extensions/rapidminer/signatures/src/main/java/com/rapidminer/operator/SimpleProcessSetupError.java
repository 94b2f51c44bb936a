// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

import com.rapidminer.operator.ports.PortOwner;

/** A {@link ProcessSetupError} with a text in a properties file. */
public class SimpleProcessSetupError implements ProcessSetupError {
  public SimpleProcessSetupError(Severity severity, PortOwner owner, String key, Object... arguments) {}

  @Override
  public final String getMessage() {
    throw new UnsupportedOperationException();
  }
}
