// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.example;

import java.io.Serializable;
import java.util.Iterator;

/** The attributes of an example set; iteration gives the regular ones. */
public interface Attributes extends Iterable<Attribute>, Cloneable, Serializable {
  String CONFIDENCE_NAME = "confidence";

  Attribute get(String name);

  Attribute getRegular(String name);

  Attribute getSpecial(String role);

  Attribute getLabel();

  Attribute getId();

  Attribute getWeight();

  int size();

  void clearRegular();

  void addRegular(Attribute attribute);

  Iterator<AttributeRole> specialAttributes();
}
