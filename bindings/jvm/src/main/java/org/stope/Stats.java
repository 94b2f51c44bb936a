package org.stope;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Statistics of one column. Immutable. NaN stands for what a column does not have, such as the mean of names. */
public final class Stats {
  private static final List<String> NUMBERS =
      Collections.unmodifiableList(
          java.util.Arrays.asList(
              "rows", "count", "missing", "zeros", "min", "min_row", "max",
              "max_row", "sum", "mean", "variance", "deviation", "skewness", "distinct"));

  private final String name;
  private final String group;
  private final double[] numbers;

  private Stats(String name, String group, double[] numbers) {
    this.name = name;
    this.group = group;
    this.numbers = numbers;
  }

  /**
   * Computes the statistics of all columns.
   *
   * @param table the table
   * @param options of the job "stats": "by", "distinct", "extremes"; may be null
   * @param run may be null
   * @return one entry a column, in their order; with "by" then one a class and column
   * @throws StopeException as {@link Jobs#compute}
   */
  public static List<Stats> describe(Table table, Options options, Run run) {
    try (Table result = Jobs.compute("stats", table, null, options, run)) {
      int column = result.indexOf("column");
      int group = result.indexOf("class");
      int first = result.indexOf(NUMBERS.get(0));
      List<Stats> all = new ArrayList<>();
      for (int row = 0; row < result.rows(); ++row) {
        double[] numbers = new double[NUMBERS.size()];
        result.copy(row, first, 1, numbers.length, numbers);
        all.add(new Stats(result.text(row, column), group < 0 ? null : result.text(row, group), numbers));
      }
      return Collections.unmodifiableList(all);
    }
  }

  /**
   * Names the column.
   *
   * @return its name
   */
  public String name() {
    return name;
  }

  /**
   * Names the class of rows, with the option "by".
   *
   * @return the class, or null for all rows
   */
  public String group() {
    return group;
  }

  /**
   * Counts the rows.
   *
   * @return the number of rows
   */
  public long rows() {
    return (long) numbers[0];
  }

  /**
   * Counts the values that are there.
   *
   * @return the number of rows without the missing values
   */
  public long count() {
    return (long) numbers[1];
  }

  /**
   * Counts the missing values.
   *
   * @return their number
   */
  public long missing() {
    return (long) numbers[2];
  }

  /**
   * Counts the zeros.
   *
   * @return their number; NaN for a nominal column
   */
  public double zeros() {
    return numbers[3];
  }

  /**
   * Gives the smallest value.
   *
   * @return in the column's unit; NaN if there is none
   */
  public double min() {
    return numbers[4];
  }

  /**
   * Says where the smallest value is first.
   *
   * @return the row, from 0; NaN if there is none
   */
  public double minRow() {
    return numbers[5];
  }

  /**
   * Gives the largest value.
   *
   * @return in the column's unit; NaN if there is none
   */
  public double max() {
    return numbers[6];
  }

  /**
   * Says where the largest value is first.
   *
   * @return the row, from 0; NaN if there is none
   */
  public double maxRow() {
    return numbers[7];
  }

  /**
   * Gives the sum.
   *
   * @return in the column's unit; NaN for a nominal column
   */
  public double sum() {
    return numbers[8];
  }

  /**
   * Gives the mean.
   *
   * @return in the column's unit; NaN if there is none
   */
  public double mean() {
    return numbers[9];
  }

  /**
   * Gives the variance of a sample.
   *
   * @return in the squared unit of the column; NaN if there is none
   */
  public double variance() {
    return numbers[10];
  }

  /**
   * Gives the standard deviation of a sample.
   *
   * @return in the column's unit; NaN if there is none
   */
  public double deviation() {
    return numbers[11];
  }

  /**
   * Gives the skewness.
   *
   * @return without a unit; NaN if there is none
   */
  public double skewness() {
    return numbers[12];
  }

  /**
   * Counts the different values.
   *
   * @return their number; NaN if it was not asked for with the option "distinct"
   */
  public double distinct() {
    return numbers[13];
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(name);
    for (int i = 0; i < numbers.length; ++i) {
      text.append(i == 0 ? ": " : ", ").append(NUMBERS.get(i)).append(' ').append(numbers[i]);
    }
    return text.toString();
  }
}
