// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.parameter;

/** A choice. */
public class ParameterTypeCategory extends ParameterTypeSingle {
  public ParameterTypeCategory(String key, String description, String[] values, int standard, boolean expert) {}
}
