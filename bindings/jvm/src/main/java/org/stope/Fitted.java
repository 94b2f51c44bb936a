package org.stope;

/** What the typed models have in common: a model, which they close. */
abstract class Fitted implements AutoCloseable {
  private final Model model;

  Fitted(Model model) {
    this.model = model;
  }

  /** Refuses a model of another kind; the kinds are those of model files. */
  static Model required(Model model, String... kinds) {
    String kind = (String) Json.object(Arguments.required(model, "model").info()).get("kind");
    if (!java.util.Arrays.asList(kinds).contains(kind)) {
      throw Arguments.wrong(
          "model", "the model is of kind '" + kind + "', and '" + String.join("' or '", kinds) + "' is needed");
    }
    return model;
  }

  /**
   * Gives the model itself, for its bytes and files. It is closed with this object.
   *
   * @return the model
   */
  public Model model() {
    return model;
  }

  /** Frees the model. Closing again does nothing. */
  @Override
  public void close() {
    model.close();
  }
}
