// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.ArrayList;
import java.util.List;
import org.stope.Column;
import org.stope.ColumnType;
import org.stope.Role;
import org.stope.Table;
import org.stope.TableBuilder;
import weka.core.Attribute;
import weka.core.Capabilities;
import weka.core.Capabilities.Capability;
import weka.core.Instance;
import weka.core.Instances;

/**
 * Instances with a nominal class as a table of the engine. Values are named by their code, so that no value of WEKA's
 * can mean something else to the engine.
 */
public final class EngineTable {
  private static final int BLOCK_VALUES = 1 << 16;

  private EngineTable() {}

  /** Restricts a scheme's capabilities to what such a table holds. */
  public static Capabilities capabilities(Capabilities can) {
    can.disableAll();
    can.enable(Capability.NOMINAL_ATTRIBUTES);
    can.enable(Capability.NUMERIC_ATTRIBUTES);
    can.enable(Capability.DATE_ATTRIBUTES);
    can.enable(Capability.MISSING_VALUES);
    can.enable(Capability.NOMINAL_CLASS);
    can.enable(Capability.MISSING_CLASS_VALUES);
    return can;
  }

  /** The numbers of all attributes but the class. */
  public static List<Integer> features(Instances data) {
    List<Integer> features = new ArrayList<>();
    for (int a = 0; a < data.numAttributes(); a++) {
      if (a != data.classIndex()) {
        features.add(a);
      }
    }
    return features;
  }

  /**
   * Makes the table, which the caller closes. Rows without a class are left out; weights come along if one is not 1.
   *
   * @param attributes the numbers of the attributes that become features
   */
  public static Table of(Instances data, List<Integer> attributes) {
    boolean weighted = false;
    int rows = 0;
    for (Instance row : data) {
      if (!row.classIsMissing()) {
        weighted |= row.weight() != 1;
        rows++;
      }
    }
    if (rows == 0) {
      throw new IllegalArgumentException("no instance has a class: there is nothing to learn from");
    }
    try (TableBuilder builder = new TableBuilder(rows)) {
      for (int a : attributes) {
        builder.column(column(data.attribute(a), a, Role.REGULAR));
      }
      builder.column(column(data.classAttribute(), data.classIndex(), Role.LABEL));
      if (weighted) {
        builder.column(Column.real("weight").as(Role.WEIGHT));
      }
      append(builder, data, attributes, weighted);
      return builder.finish();
    }
  }

  private static void append(TableBuilder builder, Instances data, List<Integer> attributes, boolean weighted) {
    int width = builder.columns();
    int blockRows = Math.max(1, BLOCK_VALUES / width);
    double[] block = new double[blockRows * width];
    int used = 0;
    for (Instance row : data) {
      if (row.classIsMissing()) {
        continue;
      }
      int at = used * width;
      for (int a : attributes) {
        block[at++] = row.value(a);
      }
      block[at++] = row.classValue();
      if (weighted) {
        block[at] = row.weight();
      }
      if (++used == blockRows) {
        builder.append(block, used);
        used = 0;
      }
    }
    if (used > 0) {
      builder.append(block, used);
    }
  }

  /** The name of an attribute's column: its number as WEKA counts, which makes it unique, and its name. */
  private static String name(Attribute attribute, int number) {
    // The engine takes no control characters and no halves of surrogate pairs.
    return (number + 1) + " " + attribute.name().replaceAll("[\\p{Cntrl}\\p{Cs}]", "?");
  }

  /** The number of the attribute, from 0, whose column has this name. */
  public static int attribute(String name) {
    return Integer.parseInt(name.substring(0, name.indexOf(' '))) - 1;
  }

  private static Column column(Attribute attribute, int number, Role role) {
    if (!attribute.isNominal()) {
      return Column.of(name(attribute, number), role, ColumnType.REAL, new ArrayList<>());
    }
    List<String> codes = new ArrayList<>();
    for (int code = 0; code < Math.max(1, attribute.numValues()); code++) {
      codes.add(Integer.toString(code));
    }
    return Column.of(name(attribute, number), role, ColumnType.NOMINAL, codes);
  }
}
