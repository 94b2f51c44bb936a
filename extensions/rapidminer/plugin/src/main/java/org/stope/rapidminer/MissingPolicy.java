// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.parameter.ParameterType;
import com.rapidminer.parameter.ParameterTypeCategory;

/** What a missing value means to discretisations and trees. */
final class MissingPolicy {
  static final String KEY = "missing_policy";
  static final String[] NAMES = {"error", "value", "drop", "fill"};

  private MissingPolicy() {}

  static ParameterType type(String[] names) {
    return new ParameterTypeCategory(KEY, "What a missing value means. error: it is refused; value: it is a value of its "
        + "own, below all numbers; drop: its example is left out; fill: it is replaced by the attribute's mean or most "
        + "frequent value.", names, 0, false);
  }
}
