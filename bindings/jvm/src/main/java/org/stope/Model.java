package org.stope;

import java.nio.file.Path;

/**
 * A model that was fitted to a table. A model never changes: several threads may use one at once. Kinds are "neighbors",
 * "classify", "regress", "pca", "lsq", "tree", "cuts", "normalize" and "impute".
 */
public final class Model extends NativeObject {
  Model(long handle) {
    super(Native.MODEL, handle);
  }

  /**
   * Fits a model.
   *
   * @param kind for instance "classify"
   * @param train the training table; a kind that predicts needs a column of role {@link Role#LABEL}
   * @param options of that kind, see {@link Stope#describeOptions}; may be null
   * @param run may be null
   * @return the model
   * @throws StopeException INVALID_ARGUMENT for options that do not fit; INVALID_DATA for a table that does not;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public static Model fit(String kind, Table train, Options options, Run run) {
    byte[] name = Text.utf8(kind, "kind");
    try (Call call = Call.job(options, run)) {
      return new Model(Native.fit(name, call.use(train, "train"), call.options(), call.run()));
    }
  }

  /**
   * Applies the model to rows. Columns are matched by their names, nominal values by theirs.
   *
   * @param rows the table
   * @param options "proba", "n_neighbors", "weights"; may be null
   * @param run may be null
   * @return a table of as many rows: "prediction" and, with "proba", "confidence(CLASS)"; scores of components, codes of
   *     cuts, or normalised columns
   * @throws StopeException INVALID_ARGUMENT or INVALID_DATA if the table lacks a feature; OUT_OF_MEMORY; CANCELLED
   */
  public Table apply(Table rows, Options options, Run run) {
    try (Call call = Call.job(options, run)) {
      return new Table(
          Native.apply(call.useThis(this), call.use(rows, "rows"), call.options(), call.run()));
    }
  }

  /**
   * Writes the model to bytes, the same as in a file.
   *
   * @return the bytes
   * @throws StopeException UNSUPPORTED if they do not fit an array: {@link #write} writes them to a file
   */
  public byte[] toBytes() {
    try (Call call = Call.brief()) {
      return Native.modelBytes(call.useThis(this));
    }
  }

  /**
   * Makes the model of bytes.
   *
   * @param bytes from {@link #toBytes()} or a file; they are copied
   * @param run may be null
   * @return the model
   * @throws StopeException INVALID_DATA if they are no model; OUT_OF_MEMORY
   */
  public static Model fromBytes(byte[] bytes, Run run) {
    Arguments.required(bytes, "bytes");
    try (Call call = Call.job(null, run)) {
      return new Model(Native.modelOfBytes(bytes, call.run()));
    }
  }

  /**
   * Writes the model to a file, which is absent, old or complete at any time.
   *
   * @param file usually named NAME.stope, compressed with ".gz" or ".zst" behind it
   * @param run may be null
   * @throws StopeException IO if it cannot be written; CANCELLED
   */
  public void write(Path file, Run run) {
    byte[] path = Text.path(file, "file");
    try (Call call = Call.job(null, run)) {
      Native.modelWrite(call.useThis(this), path, call.run());
    }
  }

  /**
   * Reads a model from a file.
   *
   * @param file the file
   * @param map whether a large plain file is mapped, and its columns used where they lie. Such a file may be replaced
   *     while the model lives, but not changed. A program that shortens it ends this process with SIGBUS, and the JVM with
   *     it: map only files that nobody writes in place.
   * @param run may be null
   * @return the model
   * @throws StopeException IO if it cannot be read; INVALID_DATA if it is no model; OUT_OF_MEMORY; CANCELLED
   */
  public static Model read(Path file, boolean map, Run run) {
    byte[] path = Text.path(file, "file");
    try (Call call = Call.job(null, run)) {
      return new Model(Native.modelRead(path, map, call.run()));
    }
  }

  /**
   * Describes the model: its kind, what it gives, its classes and columns.
   *
   * @return a JSON object
   */
  public String info() {
    try (Call call = Call.brief()) {
      return Text.string(Native.modelInfo(call.useThis(this)));
    }
  }

  /**
   * Spells a tree.
   *
   * @param format "text", "json", "dot", "svg" or "rules"
   * @return the text
   * @throws StopeException INVALID_ARGUMENT if the model is no tree, or for another format
   */
  public String text(String format) {
    byte[] name = Text.utf8(format, "format");
    try (Call call = Call.brief()) {
      byte[] text = Native.modelText(call.useThis(this), name);
      if (text == null) {
        throw Arguments.wrong(
            "format", "the model has no text as '" + format + "': trees have text, json, dot, svg and rules");
      }
      return Text.string(text);
    }
  }

  /**
   * Gives a part of the model, by its name in docs/formats/models.md.
   *
   * @param part "train", "components", "coefficients", "cuts", "nodes" and others; {@link #info()} lists them
   * @return a table
   * @throws StopeException INVALID_ARGUMENT if the model has no such part
   */
  public Table table(String part) {
    byte[] name = Text.utf8(part, "part");
    try (Call call = Call.brief()) {
      return new Table(Native.modelTable(call.useThis(this), name));
    }
  }

  /** Frees what searches have left in the memory of GPUs. Later searches make it again. */
  public void releaseDevices() {
    try (Call call = Call.brief()) {
      Native.modelReleaseDevices(call.useThis(this));
    }
  }

  /**
   * Finds the nearest training rows of each row. The model is one of k-NN.
   *
   * @param rows the table
   * @param nNeighbors how many for each row, at least 1
   * @param options "exclude_self" if the rows are the training rows; may be null
   * @param run may be null
   * @return lists of {@code nNeighbors} entries a row, nearest first
   * @throws StopeException INVALID_ARGUMENT for another kind of model, or if the lists do not fit an array;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public Neighbors neighbors(Table rows, int nNeighbors, Options options, Run run) {
    try (Call call = Call.job(options, run)) {
      long model = call.useThis(this);
      long table = call.use(rows, "rows");
      int n = Neighbors.sizeOf("nNeighbors", rows.rows(), nNeighbors);
      long[] indices = new long[n];
      double[] distances = new double[n];
      Native.neighbors(model, table, nNeighbors, call.options(), call.run(), indices, distances);
      return new Neighbors((int) rows.rows(), nNeighbors, indices, distances);
    }
  }

  /**
   * Finds all training rows within a radius of each row. The model is one of k-NN.
   *
   * @param rows the table
   * @param radius the largest distance, in the measure's own unit
   * @param options may be null
   * @param run may be null
   * @return one list a row, nearest first
   * @throws StopeException INVALID_ARGUMENT for another kind of model, or if the lists do not fit an array;
   *     OUT_OF_MEMORY; CANCELLED
   */
  public RadiusNeighbors radiusNeighbors(Table rows, double radius, Options options, Run run) {
    try (Call call = Call.job(options, run)) {
      long lists =
          Native.radiusNeighbors(
              call.useThis(this), call.use(rows, "rows"), radius, call.options(), call.run());
      try {
        return RadiusNeighbors.copyOf(lists);
      } finally {
        Native.free(Native.LISTS, lists);
      }
    }
  }
}
