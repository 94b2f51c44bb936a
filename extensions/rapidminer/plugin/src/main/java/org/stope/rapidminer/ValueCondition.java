// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.Example;
import com.rapidminer.operator.learner.tree.SplitCondition;

/** A nominal value, or all others: "thal = normal" or "thal ≠ normal". */
final class ValueCondition implements SplitCondition {
  private static final long serialVersionUID = 1L;

  private final String attribute;
  private final String value;
  private final boolean equal;
  private final String forMissing;

  /** A null {@code value} is the missing one; {@code forMissing} is what a missing value counts as. */
  ValueCondition(String attribute, String value, boolean equal, String forMissing) {
    this.attribute = attribute;
    this.value = value;
    this.equal = equal;
    this.forMissing = forMissing;
  }

  @Override
  public String getAttributeName() {
    return attribute;
  }

  @Override
  public String getRelation() {
    return equal ? "=" : "≠";
  }

  @Override
  public String getValueString() {
    return value == null ? "?" : value;
  }

  @Override
  public boolean test(Example example) {
    Attribute found = example.getAttributes().get(attribute);
    boolean missing = found == null || Double.isNaN(example.getValue(found));
    String here = missing ? forMissing : example.getNominalValue(found);
    boolean same = value == null ? here == null : value.equals(here);
    return same == equal;
  }

  @Override
  public String toString() {
    return attribute + " " + getRelation() + " " + getValueString();
  }
}
