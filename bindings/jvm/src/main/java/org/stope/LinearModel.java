package org.stope;

/**
 * Least squares, with or without a ridge.
 *
 * <p>Several threads may use one at once.
 */
public final class LinearModel extends Fitted {
  private LinearModel(Model model) {
    super(model);
  }

  /**
   * Uses a model that was read or loaded.
   *
   * @param model a model of this kind; it is closed with this object
   * @return the same model with the functions of this class
   * @throws StopeException INVALID_ARGUMENT for a model of another kind
   */
  public static LinearModel of(Model model) {
    return new LinearModel(required(model, "least squares"));
  }

  /**
   * Fits the coefficients.
   *
   * @param train the training table, whose label is numeric
   * @param options of the kind "lsq", see {@link Stope#describeOptions}; may be null
   * @param run may be null
   * @return the model
   * @throws StopeException INVALID_ARGUMENT for options that do not fit; INVALID_DATA for a table that does not;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public static LinearModel fit(Table train, Options options, Run run) {
    return new LinearModel(Model.fit("lsq", train, options, run));
  }

  /**
   * Predicts the label of every row.
   *
   * @param rows the table
   * @param run may be null
   * @return a table of as many rows with the column "prediction", in the unit of the label
   * @throws StopeException as {@link Model#apply}
   */
  public Table predict(Table rows, Run run) {
    return model().apply(rows, null, run);
  }

  /**
   * Gives the coefficients.
   *
   * @return a table: "kind" is "intercept" or "attribute", "name" that of the feature, "coefficient" in units of the label
   *     per unit of the feature, "mean" that of the feature
   */
  public Table coefficients() {
    return model().table("coefficients");
  }
}
