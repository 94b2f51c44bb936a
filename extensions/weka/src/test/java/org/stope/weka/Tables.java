// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.converters.ConverterUtils.DataSource;

/** Tables for the tests: WEKA's own samples where they are installed, files of the project, and random ones. */
final class Tables {
  private Tables() {}

  /** A file as a table whose last attribute is the class. */
  static Instances read(File file) throws Exception {
    Instances table = DataSource.read(file.getPath());
    table.setClassIndex(table.numAttributes() - 1);
    return table;
  }

  /** WEKA's samples of these names that are installed; none where WEKA's samples are not. */
  static List<File> samples(String... names) {
    return existing(new File(System.getProperty("weka.examples", "/nowhere")), names);
  }

  /** Files of the project's shared data. */
  static List<File> shared(String... names) {
    return existing(new File(System.getProperty("stope.shared", "/nowhere"), "data/mixed"), names);
  }

  private static List<File> existing(File folder, String... names) {
    List<File> files = new ArrayList<>();
    for (String name : names) {
      File file = new File(folder, name + ".arff");
      if (file.isFile()) {
        files.add(file);
      }
    }
    return files;
  }

  /** What a random table has. */
  static final class Shape {
    int rows = 120;
    int numeric = 4;
    int nominal = 2;
    double missing;
    boolean numericClass;
    boolean weighted;
    boolean coarse; // Few different numbers, so that distances tie.
    boolean odd; // Also a constant, an attribute without values, a date.
  }

  static Instances random(Shape shape, long seed) {
    Random random = new Random(seed);
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int i = 0; i < shape.numeric; i++) {
      attributes.add(new Attribute("x" + i));
    }
    for (int i = 0; i < shape.nominal; i++) {
      attributes.add(new Attribute("c" + i, Arrays.asList("a", "b", "c", "d").subList(0, 2 + i % 3)));
    }
    if (shape.odd) {
      attributes.add(new Attribute("constant"));
      attributes.add(new Attribute("empty"));
      attributes.add(new Attribute("day", "yyyy-MM-dd"));
    }
    attributes.add(shape.numericClass ? new Attribute("y") : new Attribute("y", Arrays.asList("u", "v", "w")));
    Instances table = new Instances("random", attributes, shape.rows);
    table.setClassIndex(table.numAttributes() - 1);
    for (int row = 0; row < shape.rows; row++) {
      double[] values = new double[table.numAttributes()];
      double sum = 0;
      for (int a = 0; a + 1 < values.length; a++) {
        Attribute attribute = table.attribute(a);
        double value = attribute.isNominal() ? random.nextInt(attribute.numValues())
            : shape.coarse ? random.nextInt(5) : random.nextGaussian() * Math.pow(10, a % 4);
        switch (attribute.name()) {
          case "constant": value = 7; break;
          case "empty": value = Double.NaN; break;
          case "day": value = 86400000.0 * random.nextInt(9999); break;
          default: value = random.nextDouble() < shape.missing ? Double.NaN : value;
        }
        values[a] = value;
        sum += Double.isNaN(value) ? 0 : value;
      }
      values[values.length - 1] = shape.numericClass ? sum + random.nextGaussian() : random.nextInt(3);
      table.add(new DenseInstance(shape.weighted ? 0.25 + random.nextInt(8) : 1, values));
    }
    return table;
  }

  /** Every other row, from {@code first} on. */
  static Instances half(Instances table, int first) {
    Instances half = new Instances(table, table.numInstances() / 2 + 1);
    for (int i = first; i < table.numInstances(); i += 2) {
      Instance row = table.instance(i);
      half.add(row);
    }
    return half;
  }

  /** At most so many rows, spread over the table. */
  static Instances thinned(Instances table, int most) {
    if (table.numInstances() <= most) {
      return table;
    }
    Instances thin = new Instances(table, most);
    for (int i = 0; i < most; i++) {
      thin.add(table.instance((int) ((long) i * table.numInstances() / most)));
    }
    return thin;
  }
}
