// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.ports;

/** The ports of one direction. */
public interface Ports<T extends Port> {
  T createPort(String name);

  T getPortByName(String name);
}
