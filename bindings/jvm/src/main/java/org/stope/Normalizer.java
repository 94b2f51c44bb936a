package org.stope;

/**
 * Brings numeric columns to one scale. It is fitted to one table and applied to others.
 *
 * <p>Several threads may use one at once.
 */
public final class Normalizer extends Fitted {
  private Normalizer(Model model) {
    super(model);
  }

  /**
   * Uses a model that was read or loaded.
   *
   * @param model a model of this kind; it is closed with this object
   * @return the same model with the functions of this class
   * @throws StopeException INVALID_ARGUMENT for a model of another kind
   */
  public static Normalizer of(Model model) {
    return new Normalizer(required(model, "normalization"));
  }

  /**
   * Learns the scale of every numeric feature.
   *
   * @param train the training table
   * @param options of the kind "normalize", see {@link Stope#describeOptions}; may be null
   * @param run may be null
   * @return the model
   * @throws StopeException INVALID_ARGUMENT for options that do not fit; INVALID_DATA for a table that does not;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public static Normalizer fit(Table train, Options options, Run run) {
    return new Normalizer(Model.fit("normalize", train, options, run));
  }

  /**
   * Normalises the columns that were fitted.
   *
   * @param rows the table
   * @param run may be null
   * @return a table of the same rows and columns
   * @throws StopeException as {@link Model#apply}
   */
  public Table apply(Table rows, Run run) {
    return model().apply(rows, null, run);
  }

  /**
   * Gives what was learned.
   *
   * @return a table: a row a normalised column
   */
  public Table parameters() {
    return model().table("normalization");
  }
}
