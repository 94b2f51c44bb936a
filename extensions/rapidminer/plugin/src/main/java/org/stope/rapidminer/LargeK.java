// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.operator.Operator;
import com.rapidminer.operator.ProcessSetupError;
import com.rapidminer.operator.SimpleProcessSetupError;

/** What a k above the number of examples does. It is allowed, as with k-NN, and what comes out surprises. */
final class LargeK {
  private LargeK() {}

  /** The key of the text in Errors.properties, after "process.error.". */
  static String key(boolean classes, boolean weighted) {
    return "stope.large_k." + (!classes ? "numbers" : weighted ? "weighted" : "equal");
  }

  /** Shows a warning at the operator and in the log; gives its text, or an empty one if k is not too large. */
  static String warn(Operator operator, int k, int examples, boolean classes, boolean weighted) {
    if (k <= examples) {
      return "";
    }
    ProcessSetupError warning = new SimpleProcessSetupError(ProcessSetupError.Severity.WARNING, operator.getPortOwner(),
        key(classes, weighted), String.valueOf(k), String.valueOf(examples));
    operator.addError(warning);
    operator.getLogger().warning("stope: " + warning.getMessage());
    return warning.getMessage();
  }
}
