// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.operator.learner.tree.SplitCondition;

/** One side of a cut: "age < 39.5" or "age ≥ 39.5". A cut at -∞ parts missing values from all numbers. */
final class CutCondition implements SplitCondition {
  private static final long serialVersionUID = 1L;

  private final String attribute;
  private final double cut;
  private final boolean right;
  private final double fill;

  /** {@code fill}: the number that stands in for a missing value; NaN where a missing value goes left. */
  CutCondition(String attribute, double cut, boolean right, double fill) {
    this.attribute = attribute;
    this.cut = cut;
    this.right = right;
    this.fill = fill;
  }

  @Override
  public String getAttributeName() {
    return attribute;
  }

  private boolean partsMissing() {
    return cut == Double.NEGATIVE_INFINITY;
  }

  @Override
  public String getRelation() {
    if (partsMissing()) {
      return right ? "≠" : "=";
    }
    return right ? "≥" : "<";
  }

  @Override
  public String getValueString() {
    return partsMissing() ? "?" : CutRanges.text(cut);
  }

  @Override
  public boolean test(Example example) {
    Attribute found = example.getAttributes().get(attribute);
    double value = found == null ? Double.NaN : example.getValue(found);
    if (Double.isNaN(value)) {
      value = fill;
    }
    return value >= cut == right;  // NaN is not right of anything
  }

  @Override
  public String toString() {
    return attribute + " " + getRelation() + " " + getValueString();
  }
}
