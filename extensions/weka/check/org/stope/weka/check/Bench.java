// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka.check;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import weka.classifiers.AbstractClassifier;
import weka.classifiers.lazy.IBk;
import weka.classifiers.lazy.StopeIBk;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instances;
import weka.core.Utils;

/**
 * Measures StopeIBk against IBk with each of its searches: Bench ROWS COLUMNS QUERIES RIVAL_QUERIES K. It prints a row a
 * classifier, as Markdown: seconds to build, seconds for the queries, microseconds a query. IBk predicts only the first
 * RIVAL_QUERIES of the queries, as it takes long, and its distributions must be those of StopeIBk.
 */
public final class Bench {
  private static final String[] SEARCHES = {"LinearNNSearch", "KDTree", "BallTree", "CoverTree"};

  private Bench() {}

  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[0]);
    int columns = Integer.parseInt(arguments[1]);
    int queries = Integer.parseInt(arguments[2]);
    int rivalQueries = Math.min(queries, Integer.parseInt(arguments[3]));
    String k = arguments[4];
    Instances training = table(rows, columns, 1);
    Instances test = table(queries, columns, 2);
    System.out.printf("%d x %d training rows, k = %s, Java %s, %d processors%n%n", rows, columns, k,
        System.getProperty("java.version"), Runtime.getRuntime().availableProcessors());
    System.out.println("| classifier | queries | build s | queries s | us a query | largest difference |");
    System.out.println("|---|---|---|---|---|---|");
    // Twice, as the first run also compiles the classes.
    ours("StopeIBk, first run", training, test, k, "");
    double[][] found = ours("StopeIBk", training, test, k, "");
    ours("StopeIBk, 1 thread", training, test, k, "-threads 1");
    for (String search : SEARCHES) {
      double[][] expected = new double[rivalQueries][];
      IBk rival = new IBk();
      rival.setOptions(Utils.splitOptions("-K " + k + " -A weka.core.neighboursearch." + search));
      long begin = System.nanoTime();
      rival.buildClassifier(training);
      long built = System.nanoTime();
      for (int i = 0; i < rivalQueries; i++) {
        expected[i] = rival.distributionForInstance(test.instance(i));
      }
      report("IBk, " + search, rivalQueries, begin, built, System.nanoTime(), difference(expected, found));
    }
  }

  private static double[][] ours(String name, Instances training, Instances test, String k, String search) throws Exception {
    AbstractClassifier classifier = new StopeIBk();
    classifier.setOptions(new String[] {"-K", k, "-A", "weka.core.neighboursearch.StopeSearch " + search});
    long begin = System.nanoTime();
    classifier.buildClassifier(training);
    long built = System.nanoTime();
    double[][] found = classifier.distributionsForInstances(test);
    report(name, test.numInstances(), begin, built, System.nanoTime(), 0);
    return found;
  }

  private static double difference(double[][] expected, double[][] found) {
    double largest = 0;
    for (int i = 0; i < expected.length; i++) {
      for (int c = 0; c < expected[i].length; c++) {
        largest = Math.max(largest, Math.abs(expected[i][c] - found[i][c]));
      }
    }
    return largest;
  }

  private static void report(String name, int queries, long begin, long built, long end, double difference) {
    System.out.printf(Locale.ROOT, "| %s | %d | %.3f | %.3f | %.1f | %.1e |%n", name, queries, (built - begin) / 1e9,
        (end - built) / 1e9, (end - built) / 1e3 / queries, difference);
  }

  /** Rows around ten centres, which are their classes. */
  private static Instances table(int rows, int columns, long seed) {
    Random places = new Random(0);
    double[][] centres = new double[10][columns];
    for (double[] centre : centres) {
      for (int a = 0; a < columns; a++) {
        centre[a] = 4 * places.nextDouble();
      }
    }
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int a = 0; a < columns; a++) {
      attributes.add(new Attribute("x" + a));
    }
    attributes.add(new Attribute("class", Arrays.asList("0,1,2,3,4,5,6,7,8,9".split(","))));
    Instances table = new Instances("bench", attributes, rows);
    table.setClassIndex(columns);
    Random random = new Random(seed);
    for (int row = 0; row < rows; row++) {
      double[] values = new double[columns + 1];
      int centre = random.nextInt(centres.length);
      for (int a = 0; a < columns; a++) {
        values[a] = centres[centre][a] + random.nextGaussian();
      }
      values[columns] = centre;
      table.add(new DenseInstance(1, values));
    }
    return table;
  }
}
