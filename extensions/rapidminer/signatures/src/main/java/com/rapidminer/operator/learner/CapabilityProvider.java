// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner;

import com.rapidminer.operator.OperatorCapability;

/** Says what a learner can learn from. */
public interface CapabilityProvider {
  boolean supportsCapability(OperatorCapability capability);
}
