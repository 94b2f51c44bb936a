// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.RapidMiner;
import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.UserError;

/**
 * Whether the rows that a model gets are of the kind that it was learned from. RapidMiner 5 warns and goes on: it reads
 * missing values for an attribute that is not there, and compares numbers with codes where the types differ. Later
 * versions refuse both; their check does not cover models that can be updated, so it is here.
 */
final class MatchCheck {
  private static final int FIRST_STRICT_VERSION = 6;

  private MatchCheck() {}

  static void check(Operator operator, KnnColumns columns, ExampleSet set) throws UserError {
    if (majorVersion(RapidMiner.getShortVersion()) < FIRST_STRICT_VERSION) {
      return;
    }
    for (int c = 0; c < columns.size(); c++) {
      Attribute attribute = set.getAttributes().get(columns.name(c));
      if (attribute == null) {
        throw StopeError.user(operator, "missing_attribute", columns.name(c));
      }
      if (attribute.isNominal() != columns.nominal(c)) {
        throw StopeError.user(operator, "other_type", columns.name(c), columns.nominal(c) ? "nominal" : "numeric");
      }
    }
  }

  /** "5.3" is 5. What is no version counts as old. */
  static int majorVersion(String version) {
    int end = 0;
    while (end < version.length() && Character.isDigit(version.charAt(end))) {
      end++;
    }
    return end == 0 || end > 4 ? 0 : Integer.parseInt(version.substring(0, end));
  }
}
