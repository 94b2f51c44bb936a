// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.OperatorException;

/** Makes a model of an example set. */
public interface Learner extends CapabilityProvider {
  Model learn(ExampleSet set) throws OperatorException;
}
