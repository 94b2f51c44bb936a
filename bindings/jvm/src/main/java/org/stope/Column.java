package org.stope;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** One column of a schema: its name, type, role, and the names of its codes. It has no values of rows. Immutable. */
public final class Column {
  private final String name;
  private final ColumnType type;
  private final Role role;
  private final List<String> values;

  private Column(String name, Role role, ColumnType type, List<String> values) {
    this.name = Arguments.required(name, "name");
    this.role = Arguments.required(role, "role");
    this.type = Arguments.required(type, "type");
    Arguments.requiredAll("values", values);
    this.values = Collections.unmodifiableList(new ArrayList<>(values));
  }

  /**
   * Describes a column.
   *
   * @param name its name
   * @param role what it is for
   * @param type what its values are
   * @param values the names of the codes 0, 1, ... of a nominal column; empty for other columns
   * @return the description
   * @throws StopeException INVALID_ARGUMENT if one is null
   */
  public static Column of(String name, Role role, ColumnType type, List<String> values) {
    return new Column(name, role, type, values);
  }

  /**
   * Describes a numeric feature.
   *
   * @param name its name
   * @return a column of type {@link ColumnType#REAL} and role {@link Role#REGULAR}
   * @throws StopeException INVALID_ARGUMENT if the name is null
   */
  public static Column real(String name) {
    return new Column(name, Role.REGULAR, ColumnType.REAL, Collections.<String>emptyList());
  }

  /**
   * Describes a nominal feature.
   *
   * @param name its name
   * @param values the names of the codes 0, 1, ...
   * @return a column of type {@link ColumnType#NOMINAL} and role {@link Role#REGULAR}
   * @throws StopeException INVALID_ARGUMENT if the name or a value is null
   */
  public static Column nominal(String name, String... values) {
    return new Column(name, Role.REGULAR, ColumnType.NOMINAL, Arrays.asList(Arguments.required(values, "values")));
  }

  /**
   * Gives the same column another role.
   *
   * @param role the new role
   * @return a new description
   * @throws StopeException INVALID_ARGUMENT if the role is null
   */
  public Column as(Role role) {
    return new Column(name, role, type, values);
  }

  /**
   * Names the column.
   *
   * @return the name, unique within a table
   */
  public String name() {
    return name;
  }

  /**
   * Says what the values are.
   *
   * @return the type
   */
  public ColumnType type() {
    return type;
  }

  /**
   * Says what the column is for.
   *
   * @return the role
   */
  public Role role() {
    return role;
  }

  /**
   * Names the codes of a nominal column.
   *
   * @return the name of code {@code i} at index {@code i}; empty for a column that is not nominal. Unmodifiable.
   */
  public List<String> values() {
    return values;
  }

  @Override
  public String toString() {
    return name + " (" + type.word() + ", " + role.name().toLowerCase(java.util.Locale.ROOT) + ")";
  }
}
