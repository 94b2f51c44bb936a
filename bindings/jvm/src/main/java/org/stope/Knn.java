package org.stope;

/**
 * k nearest neighbours: lists of them, and what they vote.
 *
 * <pre>{@code
 * try (Knn knn = Knn.classifier().nNeighbors(5).metric("gower").weights("distance").fit(train, null);
 *     Table predicted = knn.predict(test, null)) {
 *   String first = predicted.text(0, predicted.indexOf("prediction"));
 * }
 * }</pre>
 *
 * <p>Several threads may use one at once.
 */
public final class Knn extends Fitted {
  private Knn(Model model) {
    super(model);
  }

  /**
   * Uses a model that was read or loaded.
   *
   * @param model a model of k-NN; it is closed with this object
   * @return the same model with the functions of this class
   * @throws StopeException INVALID_ARGUMENT for a model of another kind
   */
  public static Knn of(Model model) {
    return new Knn(required(model, "neighbors"));
  }

  /**
   * Begins a model that predicts a nominal label.
   *
   * @return options to be set, then {@link Builder#fit}
   */
  public static Builder classifier() {
    return new Builder("classify");
  }

  /**
   * Begins a model that predicts a label of numbers.
   *
   * @return options to be set, then {@link Builder#fit}
   */
  public static Builder regressor() {
    return new Builder("regress");
  }

  /**
   * Begins a model without a label, which only finds neighbours.
   *
   * @return options to be set, then {@link Builder#fit}
   */
  public static Builder searcher() {
    return new Builder("neighbors");
  }

  /** Options of a k-NN model. What is not set has the engine's default. One thread at a time uses it. */
  public static final class Builder {
    private final String kind;
    private final Options options = new Options();

    private Builder(String kind) {
      this.kind = kind;
    }

    /**
     * Sets how many neighbours vote.
     *
     * @param n at least 1
     * @return this
     */
    public Builder nNeighbors(int n) {
      return set("n_neighbors", n);
    }

    /**
     * Sets what the vote of a neighbour weighs.
     *
     * @param weights "uniform" or "distance"
     * @return this
     */
    public Builder weights(String weights) {
      return set("weights", weights);
    }

    /**
     * Sets the measure of distance.
     *
     * @param name one of {@link Stope#metrics()}
     * @return this
     */
    public Builder metric(String name) {
      return set("metric", name);
    }

    /**
     * Sets a parameter of the measure.
     *
     * @param name for instance "p"
     * @param value its value
     * @return this
     */
    public Builder metricParameter(String name, Object value) {
      return set("metric." + Arguments.required(name, "name"), value);
    }

    /**
     * Weighs the features.
     *
     * @param weights one number a feature, in the order of the features
     * @return this
     */
    public Builder featureWeights(double... weights) {
      options.set("feature_weights", weights);
      return this;
    }

    /**
     * Normalises numeric features first, as the training table says.
     *
     * @param method for instance "z"; {@link Stope#describeOptions} lists them
     * @return this
     */
    public Builder normalize(String method) {
      return set("normalize", method);
    }

    /**
     * Sets whose rules decide ties, votes and missing values.
     *
     * @param rules "none" (stope's own) or "rapidminer"
     * @return this
     */
    public Builder compat(String rules) {
      return set("compat", rules);
    }

    /**
     * Sets any option of the kind.
     *
     * @param name its name
     * @param value its value; null takes the option back
     * @return this
     */
    public Builder set(String name, Object value) {
      options.set(name, value);
      return this;
    }

    /**
     * Fits the model.
     *
     * @param train the training table; a model that predicts needs a column of role {@link Role#LABEL}
     * @param run may be null
     * @return the model
     * @throws StopeException INVALID_ARGUMENT for options that do not fit; INVALID_DATA for a table that does not;
     *     OUT_OF_MEMORY; CANCELLED
     */
    public Knn fit(Table train, Run run) {
      return new Knn(Model.fit(kind, train, options, run));
    }
  }

  /**
   * Predicts the label of every row.
   *
   * @param rows the table
   * @param run may be null
   * @return a table of as many rows with the column "prediction"
   * @throws StopeException as {@link Model#apply}
   */
  public Table predict(Table rows, Run run) {
    return model().apply(rows, null, run);
  }

  /**
   * Predicts the label of every row and says how sure that is.
   *
   * @param rows the table
   * @param run may be null
   * @return a table of as many rows: "prediction" and, for every class, "confidence(CLASS)" from 0 to 1
   * @throws StopeException as {@link Model#apply}
   */
  public Table predictWithConfidences(Table rows, Run run) {
    return model().apply(rows, Options.of("proba", "true"), run);
  }

  /**
   * Finds the nearest training rows of each row.
   *
   * @param rows the table
   * @param nNeighbors how many for each row, at least 1
   * @param options "exclude_self" and others of "search"; may be null
   * @param run may be null
   * @return lists of {@code nNeighbors} entries a row, nearest first
   * @throws StopeException as {@link Model#neighbors}
   */
  public Neighbors neighbors(Table rows, int nNeighbors, Options options, Run run) {
    return model().neighbors(rows, nNeighbors, options, run);
  }

  /**
   * Finds all training rows within a radius of each row.
   *
   * @param rows the table
   * @param radius the largest distance, in the measure's own unit
   * @param options may be null
   * @param run may be null
   * @return one list a row, nearest first
   * @throws StopeException as {@link Model#radiusNeighbors}
   */
  public RadiusNeighbors radiusNeighbors(Table rows, double radius, Options options, Run run) {
    return model().radiusNeighbors(rows, radius, options, run);
  }
}
