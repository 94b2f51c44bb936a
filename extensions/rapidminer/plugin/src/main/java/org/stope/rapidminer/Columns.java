// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.tools.Ontology;
import java.util.ArrayList;
import java.util.List;
import org.stope.rapidminer.engine.ColumnHeader;

/** The columns of an example set that a job gets: attributes and their headers, in one order. */
final class Columns {
  final List<Attribute> attributes = new ArrayList<Attribute>();
  final List<ColumnHeader> headers = new ArrayList<ColumnHeader>();

  /** All regular attributes, as they are. */
  static Columns regular(ExampleSet set) {
    Columns columns = new Columns();
    for (Attribute attribute : set.getAttributes()) {
      columns.add(attribute, ColumnHeader.Role.REGULAR);
    }
    return columns;
  }

  /** The regular attributes that are numeric. Dates are not: a cut or a component of them means nothing. */
  static Columns numeric(ExampleSet set) {
    Columns columns = new Columns();
    for (Attribute attribute : set.getAttributes()) {
      if (attribute.isNumerical()) {
        columns.add(attribute, ColumnHeader.Role.REGULAR);
      }
    }
    return columns;
  }

  Columns add(Attribute attribute, ColumnHeader.Role role) {
    return add(attribute, header(attribute, role));
  }

  Columns add(Attribute attribute, ColumnHeader header) {
    attributes.add(attribute);
    headers.add(header);
    return this;
  }

  /** Numbers are real, whatever RapidMiner calls them: it never checks that an 'integer' is one. */
  static ColumnHeader header(Attribute attribute, ColumnHeader.Role role) {
    if (!attribute.isNominal()) {
      return ColumnHeader.real(attribute.getName(), role);
    }
    boolean binominal = attribute.getValueType() == Ontology.BINOMINAL;
    return new ColumnHeader(attribute.getName(), role,
        binominal ? ColumnHeader.Type.BINOMINAL : ColumnHeader.Type.NOMINAL, attribute.getMapping().getValues());
  }
}
