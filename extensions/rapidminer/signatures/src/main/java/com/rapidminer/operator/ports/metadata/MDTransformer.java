// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.ports.metadata;

import com.rapidminer.operator.IOObject;
import com.rapidminer.operator.ports.InputPort;
import com.rapidminer.operator.ports.OutputPort;

/** What is known of the outputs before a process runs. */
public class MDTransformer {
  public void addPassThroughRule(InputPort from, OutputPort to) {
    throw new UnsupportedOperationException();
  }

  public void addGenerationRule(OutputPort port, Class<? extends IOObject> type) {
    throw new UnsupportedOperationException();
  }
}
