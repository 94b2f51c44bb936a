// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import weka.core.Tag;

/** Words of the engine's options, and what WEKA's editors show for them. */
public final class Choices {
  /** What a cut is worth. */
  public static final Tag[] CRITERIA = {
    new Tag(0, "discernibility", "pairs of different classes that it separates", false),
    new Tag(1, "gini", "decrease of the Gini impurity", false),
    new Tag(2, "entropy", "information gain", false),
  };

  /** What a missing value means to what is learned. */
  public static final Tag[] MISSING = {
    new Tag(0, "value", "a value of its own, below all numbers", false),
    new Tag(1, "fill", "the mean or the most frequent value", false),
    new Tag(2, "drop", "the instance is left out", false),
    new Tag(3, "error", "refused", false),
  };

  private Choices() {}
}
