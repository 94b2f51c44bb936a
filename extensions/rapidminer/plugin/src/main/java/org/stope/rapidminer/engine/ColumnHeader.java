// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Name, role and type of a column; the values of a nominal one in the order of their codes. */
public final class ColumnHeader implements Serializable {
  private static final long serialVersionUID = 1L;

  /** What a column is for. */
  public enum Role { REGULAR, LABEL, WEIGHT }

  /** What its numbers mean. Nominal attributes of two values that RapidMiner calls binominal have measures of their own. */
  public enum Type { REAL, NOMINAL, BINOMINAL }

  private final String name;
  private final Role role;
  private final Type type;
  private final ArrayList<String> values;

  public ColumnHeader(String name, Role role, Type type, List<String> values) {
    this.name = name;
    this.role = role;
    this.type = type;
    this.values = new ArrayList<String>(values);
  }

  public static ColumnHeader real(String name, Role role) {
    return new ColumnHeader(name, role, Type.REAL, Collections.<String>emptyList());
  }

  public String name() {
    return name;
  }

  public Role role() {
    return role;
  }

  public Type type() {
    return type;
  }

  public List<String> values() {
    return Collections.unmodifiableList(values);
  }

  public boolean nominal() {
    return type != Type.REAL;
  }
}
