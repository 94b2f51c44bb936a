// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.ports;

import com.rapidminer.operator.IOObject;

/** Where data goes out. */
public interface OutputPort extends Port {
  void deliver(IOObject object);
}
