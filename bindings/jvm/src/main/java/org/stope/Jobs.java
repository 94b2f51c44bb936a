package org.stope;

/** Jobs that make a table of tables. */
public final class Jobs {
  private Jobs() {}

  /**
   * Runs a job.
   *
   * @param job "stats" gives a row a column; "best_cuts" a row an attribute; "find_cuts" a row a cut; "evaluate" a row a
   *     k; "pairwise" the distances of the rows of {@code table} to those of {@code other}, or with "n_neighbors" a row a
   *     pair
   * @param table the table
   * @param other the other table; may be null: then it is {@code table} itself, where the job takes two
   * @param options of the job, see {@link Stope#describeOptions}; may be null
   * @param run may be null
   * @return the result
   * @throws StopeException INVALID_ARGUMENT for options that do not fit; INVALID_DATA for a table that does not;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public static Table compute(String job, Table table, Table other, Options options, Run run) {
    byte[] name = Text.utf8(job, "job");
    try (Call call = Call.job(options, run)) {
      long first = call.use(table, "table");
      long second = other == null ? 0 : call.use(other, "table");
      return new Table(Native.compute(name, first, second, call.options(), call.run()));
    }
  }
}
