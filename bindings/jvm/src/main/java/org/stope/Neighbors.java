package org.stope;

/** The nearest training rows of each of some rows: lists of one length, row after row, nearest first. */
public final class Neighbors {
  private final int rows;
  private final int nNeighbors;
  private final long[] indices;
  private final double[] distances;

  Neighbors(int rows, int nNeighbors, long[] indices, double[] distances) {
    this.rows = rows;
    this.nNeighbors = nNeighbors;
    this.indices = indices;
    this.distances = distances;
  }

  /** The entries of all lists, which must fit an array. The text names the parameter that is wrong if they do not. */
  static int sizeOf(String parameter, long rows, int nNeighbors) {
    if (nNeighbors < 1) {
      throw Arguments.wrong(parameter, parameter + " is " + nNeighbors + ", and at least 1 is needed");
    }
    if (rows > Table.MAX_ARRAY / nNeighbors) {
      throw Arguments.wrong(
          parameter,
          rows + " lists of " + nNeighbors + " entries do not fit an array: ask for fewer rows at a time");
    }
    return (int) rows * nNeighbors;
  }

  /**
   * Merges the lists that parts of one training table have given for the same rows. The result is bit for bit that of one
   * model of the whole table.
   *
   * @param parts one result a part, of the same rows and of one length; the indices are those of the whole table
   * @return the merged lists
   * @throws StopeException INVALID_ARGUMENT if there are no parts or their shapes differ
   */
  public static Neighbors merge(Neighbors... parts) {
    Arguments.requiredAll("parts", parts);
    if (parts.length == 0) {
      throw Arguments.wrong("parts", "there are no parts to merge");
    }
    int rows = parts[0].rows;
    int n = parts[0].nNeighbors;
    int stride = rows * n;
    sizeOf("parts", (long) rows * parts.length, n);
    long[] indices = new long[stride * parts.length];
    double[] distances = new double[stride * parts.length];
    for (int p = 0; p < parts.length; ++p) {
      if (parts[p].rows != rows || parts[p].nNeighbors != n) {
        throw Arguments.wrong("parts", "the parts to merge have several shapes");
      }
      System.arraycopy(parts[p].indices, 0, indices, p * stride, stride);
      System.arraycopy(parts[p].distances, 0, distances, p * stride, stride);
    }
    long[] mergedIndices = new long[stride];
    double[] mergedDistances = new double[stride];
    NativeLibrary.require();
    Native.mergeNeighbors(
        parts.length, stride, rows, n, indices, distances, mergedIndices, mergedDistances);
    return new Neighbors(rows, n, mergedIndices, mergedDistances);
  }

  /**
   * Counts the lists.
   *
   * @return the number of rows
   */
  public int rows() {
    return rows;
  }

  /**
   * Says how long a list is.
   *
   * @return entries a row
   */
  public int nNeighbors() {
    return nNeighbors;
  }

  /**
   * Gives the training rows.
   *
   * @return {@code rows() * nNeighbors()} numbers of training rows, from 0; -1 behind the end of a shorter list. The
   *     array is not copied.
   */
  public long[] indices() {
    return indices;
  }

  /**
   * Gives the distances.
   *
   * @return {@code rows() * nNeighbors()} distances in the measure's own unit; NaN behind the end of a shorter list. The
   *     array is not copied.
   */
  public double[] distances() {
    return distances;
  }
}
