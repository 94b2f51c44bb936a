// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

/** What a learner can learn from. */
public enum OperatorCapability {
  POLYNOMINAL_ATTRIBUTES, BINOMINAL_ATTRIBUTES, NUMERICAL_ATTRIBUTES, POLYNOMINAL_LABEL, BINOMINAL_LABEL,
  WEIGHTED_EXAMPLES, MISSING_VALUES
}
