package org.stope;

/**
 * Cuts numeric columns into intervals. It finds the cuts in one table and codes others with them.
 *
 * <p>Several threads may use one at once.
 */
public final class Discretizer extends Fitted {
  private Discretizer(Model model) {
    super(model);
  }

  /**
   * Uses a model that was read or loaded.
   *
   * @param model a model of this kind; it is closed with this object
   * @return the same model with the functions of this class
   * @throws StopeException INVALID_ARGUMENT for a model of another kind
   */
  public static Discretizer of(Model model) {
    return new Discretizer(required(model, "cuts"));
  }

  /**
   * Finds the cuts of every attribute and keeps them for coding.
   *
   * @param train the training table; most methods need a nominal label
   * @param options of the kind "cuts", see {@link Stope#describeOptions}; may be null
   * @param run may be null
   * @return the model
   * @throws StopeException INVALID_ARGUMENT for options that do not fit; INVALID_DATA for a table that does not;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public static Discretizer fit(Table train, Options options, Run run) {
    return new Discretizer(Model.fit("cuts", train, options, run));
  }

  /**
   * Finds cuts without making a model.
   *
   * @param table the table; most methods need a nominal label
   * @param options of the job "find_cuts"; may be null
   * @param run may be null
   * @return a table: a row a cut, "name" of the attribute, "number", or "value" of a symbolic one
   * @throws StopeException as {@link Jobs#compute}
   */
  public static Table findCuts(Table table, Options options, Run run) {
    return Jobs.compute("find_cuts", table, null, options, run);
  }

  /**
   * Finds the best single cut of every attribute.
   *
   * @param table the table, which has a nominal label
   * @param options of the job "best_cuts"; may be null
   * @param run may be null
   * @return a table: a row an attribute, the best cut first: "attribute" (from 0), "name", "score", "cut" or "value", and
   *     with permutations "p_value", "family_p_value", "q_value"
   * @throws StopeException as {@link Jobs#compute}
   */
  public static Table bestCuts(Table table, Options options, Run run) {
    return Jobs.compute("best_cuts", table, null, options, run);
  }

  /**
   * Codes the columns that have cuts.
   *
   * @param rows the table
   * @param run may be null
   * @return a table of the same rows: codes from 0, or labels of the intervals
   * @throws StopeException as {@link Model#apply}
   */
  public Table apply(Table rows, Run run) {
    return model().apply(rows, null, run);
  }

  /**
   * Gives the cuts.
   *
   * @return a table: a row a cut, "name" of the attribute, "number", or "value" of a symbolic one
   */
  public Table cuts() {
    return model().table("cuts");
  }
}
