// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.ports;

import com.rapidminer.operator.IOObject;
import com.rapidminer.operator.UserError;

/** Where an operator meets another. */
public interface Port {
  <T extends IOObject> T getData(Class<T> type) throws UserError;

  boolean isConnected();
}
