package org.stope;

import java.util.Locale;

/** What the values of a column are. */
public enum ColumnType {
  /** Numbers. */
  REAL,
  /** Whole numbers. */
  INTEGER,
  /** Points in time: days since 1970-01-01 UTC, with fractions. */
  DATE,
  /** Names, whose number is not stated. */
  NOMINAL,
  /** Names, of which there may be many. */
  POLYNOMINAL,
  /** Names, of which there are at most two. */
  BINOMINAL;

  /**
   * Says whether values are codes that stand for names.
   *
   * @return true for the three nominal types
   */
  public boolean isNominal() {
    return this == NOMINAL || this == POLYNOMINAL || this == BINOMINAL;
  }

  /** The word of the C ABI. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
