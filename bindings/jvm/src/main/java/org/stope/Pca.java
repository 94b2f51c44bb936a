package org.stope;

/**
 * Principal components of numeric columns.
 *
 * <p>Several threads may use one at once.
 */
public final class Pca extends Fitted {
  private Pca(Model model) {
    super(model);
  }

  /**
   * Uses a model that was read or loaded.
   *
   * @param model a model of this kind; it is closed with this object
   * @return the same model with the functions of this class
   * @throws StopeException INVALID_ARGUMENT for a model of another kind
   */
  public static Pca of(Model model) {
    return new Pca(required(model, "pca"));
  }

  /**
   * Computes the components.
   *
   * @param train the training table, of numeric features
   * @param options of the kind "pca", see {@link Stope#describeOptions}; may be null
   * @param run may be null
   * @return the model
   * @throws StopeException INVALID_ARGUMENT for options that do not fit; INVALID_DATA for a table that does not;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public static Pca fit(Table train, Options options, Run run) {
    return new Pca(Model.fit("pca", train, options, run));
  }

  /**
   * Projects rows onto the components.
   *
   * @param rows the table
   * @param run may be null
   * @return a table of as many rows: a column a component, the largest variance first
   * @throws StopeException as {@link Model#apply}
   */
  public Table apply(Table rows, Run run) {
    return model().apply(rows, null, run);
  }

  /**
   * Gives the components.
   *
   * @return a table with a column "pc1", "pc2", ... for each component. Its column "kind" says what a row is:
   *     "explained_variance" (in the squared unit of the scores), "explained_variance_ratio", "singular_value",
   *     "noise_variance", or "attribute", whose "name", "mean" and "scale" stand beside its loadings
   */
  public Table components() {
    return model().table("components");
  }

  /**
   * Says how much of the variance each component explains.
   *
   * @return one number a component, in the squared unit of the scores, the largest first
   */
  public double[] explainedVariance() {
    return row("explained_variance");
  }

  /**
   * Says which share of the variance each component explains.
   *
   * @return one number a component, from 0 to 1, the largest first
   */
  public double[] explainedVarianceRatio() {
    return row("explained_variance_ratio");
  }

  private double[] row(String kind) {
    try (Table components = components()) {
      int first = components.indexOf("pc1");
      double[] values = new double[components.columns() - first];
      int row = 0;
      while (!kind.equals(components.text(row, components.indexOf("kind")))) {
        ++row;
      }
      components.copy(row, first, 1, values.length, values);
      return values;
    }
  }
}
