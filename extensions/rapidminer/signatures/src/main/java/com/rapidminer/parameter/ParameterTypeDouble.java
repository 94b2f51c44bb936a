// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.parameter;

/** A number. */
public class ParameterTypeDouble extends ParameterTypeNumber {
  public ParameterTypeDouble(String key, String description, double least, double most, double standard) {}
}
