package org.stope;

/** Jobs that make a table of tables. */
public final class Jobs {
  private Jobs() {}

  /**
   * Runs a job.
   *
   * @param job "stats" gives a row a column; "correlation" a row a pair of columns; "histogram" a row a bin; "value_counts" a row a value; "best_cuts" a row an
   *     attribute; "find_cuts" a row a cut; "evaluate" a row a k; "confusion" a row a cell; "feature_ranges" a row a numeric feature; "pairwise" a
   *     row a pair of rows: "request", "document", "distance"
   * @param table the table
   * @param other the other table of "pairwise"; null stands for {@code table} itself
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
      long second = other == null ? 0 : call.use(other, "other");
      return new Table(Native.compute(name, first, second, call.options(), call.run()));
    }
  }

  /**
   * Computes the distances of all rows of one table to all rows of another.
   *
   * @param table its rows are the rows of the result
   * @param other its rows are the columns of the result; null stands for {@code table} itself
   * @param options those of the job "pairwise_distances"; may be null
   * @param run may be null
   * @return {@code table.rows() * other.rows()} distances in the measure's own unit, row after row
   * @throws StopeException INVALID_ARGUMENT if they do not fit an array, or for options that do not fit; INVALID_DATA;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public static double[] distances(Table table, Table other, Options options, Run run) {
    try (Call call = Call.job(options, run)) {
      long first = call.use(table, "table");
      long second = other == null ? 0 : call.use(other, "other");
      long columns = (other == null ? table : other).rows();
      if (columns > 0 && table.rows() > Table.MAX_ARRAY / columns) {
        throw Arguments.wrong(
            "table", table.rows() + " times " + columns + " distances do not fit an array: ask for fewer rows at a time");
      }
      double[] to = new double[(int) (table.rows() * columns)];
      Native.pairwiseDistances(
          first, second, call.options(), call.run(), (int) table.rows(), (int) columns, to);
      return to;
    }
  }
}
