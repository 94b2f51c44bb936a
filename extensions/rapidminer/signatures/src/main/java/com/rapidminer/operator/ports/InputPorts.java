// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.ports;

import com.rapidminer.operator.IOObject;

/** All input ports. */
public interface InputPorts extends Ports<InputPort> {
  InputPort createPort(String name, Class<? extends IOObject> type);
}
