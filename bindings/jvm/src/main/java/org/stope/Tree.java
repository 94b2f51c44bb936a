package org.stope;

/**
 * A decision tree.
 *
 * <p>Several threads may use one at once.
 */
public final class Tree extends Fitted {
  private Tree(Model model) {
    super(model);
  }

  /**
   * Uses a model that was read or loaded.
   *
   * @param model a model of this kind; it is closed with this object
   * @return the same model with the functions of this class
   * @throws StopeException INVALID_ARGUMENT for a model of another kind
   */
  public static Tree of(Model model) {
    return new Tree(required(model, "tree"));
  }

  /**
   * Grows a tree.
   *
   * @param train the training table, which has a nominal label
   * @param options of the kind "tree", see {@link Stope#describeOptions}; may be null
   * @param run may be null
   * @return the model
   * @throws StopeException INVALID_ARGUMENT for options that do not fit; INVALID_DATA for a table that does not;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public static Tree fit(Table train, Options options, Run run) {
    return new Tree(Model.fit("tree", train, options, run));
  }

  /**
   * Predicts the class of every row.
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
   * Predicts the class of every row and says how sure that is.
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
   * Draws the tree for people.
   *
   * @return a line a node, indented
   */
  public String text() {
    return model().text("text");
  }

  /**
   * Spells the tree as rules.
   *
   * @return a rule a leaf
   */
  public String rules() {
    return model().text("rules");
  }

  /**
   * Gives the nodes.
   *
   * @return a table: a row a node, in preorder, with its "parent" (-1: the root), "attribute" (-1: a leaf), "cut" and
   *     the training rows of each class
   */
  public Table nodes() {
    return model().table("nodes");
  }
}
