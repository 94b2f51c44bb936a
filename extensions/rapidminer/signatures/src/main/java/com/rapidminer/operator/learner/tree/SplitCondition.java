// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.learner.tree;

import com.rapidminer.example.Example;
import java.io.Serializable;

/** When an example goes down an edge of a tree. */
public interface SplitCondition extends Serializable {
  String getAttributeName();

  String getRelation();

  String getValueString();

  boolean test(Example example);
}
