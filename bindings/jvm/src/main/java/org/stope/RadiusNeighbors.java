package org.stope;

/** All training rows within a radius of each of some rows: lists of their own lengths, one after the other. */
public final class RadiusNeighbors {
  private final long[] offsets;
  private final long[] indices;
  private final double[] distances;

  private RadiusNeighbors(long[] offsets, long[] indices, double[] distances) {
    this.offsets = offsets;
    this.indices = indices;
    this.distances = distances;
  }

  static RadiusNeighbors copyOf(long lists) {
    long rows = Native.listsRows(lists);
    long entries = Native.listsEntries(lists);
    if (rows >= Table.MAX_ARRAY || entries > Table.MAX_ARRAY) {
      throw Arguments.wrong(
          "rows", entries + " neighbours of " + rows + " rows do not fit an array: ask for fewer rows at a time");
    }
    RadiusNeighbors copy =
        new RadiusNeighbors(new long[(int) rows + 1], new long[(int) entries], new double[(int) entries]);
    Native.listsCopy(lists, copy.offsets, copy.indices, copy.distances);
    return copy;
  }

  /**
   * Counts the lists.
   *
   * @return the number of rows
   */
  public int rows() {
    return offsets.length - 1;
  }

  /**
   * Says where each list begins.
   *
   * @return {@code rows() + 1} places: list {@code i} is from {@code offsets[i]} to before {@code offsets[i + 1]}. The
   *     array is not copied.
   */
  public long[] offsets() {
    return offsets;
  }

  /**
   * Gives the training rows.
   *
   * @return numbers of training rows, from 0, of all lists. The array is not copied.
   */
  public long[] indices() {
    return indices;
  }

  /**
   * Gives the distances.
   *
   * @return distances in the measure's own unit, of all lists. The array is not copied.
   */
  public double[] distances() {
    return distances;
  }
}
