package org.stope;

/** What a column is for. */
public enum Role {
  /** A feature: jobs compute with it. */
  REGULAR,
  /** The column that is predicted. */
  LABEL,
  /** Names the rows; no job computes with it. */
  ID,
  /** The weight of each row. */
  WEIGHT,
  /** Is carried along and otherwise ignored. */
  IGNORE
}
