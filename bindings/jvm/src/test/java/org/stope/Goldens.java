package org.stope;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The recorded runs of the real RapidMiner 5.3: where they are and how to read and compare them. */
final class Goldens {
  private static final List<String> WITHIN_TOLERANCE =
      Arrays.asList(
          "CosineSimilarity", "KernelEuclideanDistance", "GeneralizedIDivergence", "KLDivergence",
          "ItakuraSaitoDistance", "LogarithmicLoss", "LogisticLoss", "MahalanobisDistance");

  private Goldens() {}

  static Path folder() {
    String shared = System.getenv("STOPE_SHARED");
    Path root = shared == null ? Paths.get("..", "..", "..", "shared") : Paths.get(shared);
    return root.resolve("goldens").resolve("rapidminer");
  }

  static boolean present() {
    return Files.exists(folder().resolve("MANIFEST.json"));
  }

  static Map<String, Object> json(String name) throws IOException {
    return Json.object(new String(Files.readAllBytes(folder().resolve(name)), StandardCharsets.UTF_8));
  }

  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> list(Map<String, Object> manifest, String name) {
    return (List<Map<String, Object>>) manifest.get(name);
  }

  /** The fields of every line; a quoted field has no line break. */
  static List<String[]> records(String name) throws IOException {
    List<String[]> records = new ArrayList<>();
    for (String line : Files.readAllLines(folder().resolve(name))) {
      List<String> fields = new ArrayList<>();
      StringBuilder field = new StringBuilder();
      boolean quoted = false;
      for (int i = 0; i < line.length(); ++i) {
        char c = line.charAt(i);
        if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
          field.append('"');
          ++i;
        } else if (c == '"') {
          quoted = !quoted;
        } else if (c == ',' && !quoted) {
          fields.add(field.toString());
          field.setLength(0);
        } else {
          field.append(c);
        }
      }
      fields.add(field.toString());
      records.add(fields.toArray(new String[0]));
    }
    return records;
  }

  static Table read(String csv, String schema, String part) {
    Options options = Options.of("schema", folder().resolve(schema).toString(), "schema_part", part);
    return Table.read(folder().resolve(csv), options, null);
  }

  static Table part(String dataset, String part) {
    return read(dataset + "/" + part + ".csv", dataset + "/schema.json", part);
  }

  static Table input(String name) {
    return read("ops/inputs/" + name + ".csv", "ops/inputs/" + name + ".schema.json", "train");
  }

  static Options metric(String types, String measure, Object kernel) {
    String family = types.replace("Measures", "").replace("Divergences", "");
    Options options = Options.of("metric", family + "." + measure, "compat", "rapidminer");
    return kernel == null ? options : options.set("metric.kernel_type", kernel);
  }

  static double number(String text) {
    return Double.parseDouble(text);
  }

  static boolean isExact(String measure) {
    return !WITHIN_TOLERANCE.contains(measure);
  }

  static boolean same(String measure, double a, double b) {
    return isExact(measure) ? Double.compare(a, b) == 0 : close(a, b);
  }

  static boolean close(double a, double b) {
    if (Double.isNaN(a) || Double.isNaN(b) || Double.isInfinite(a) || Double.isInfinite(b)) {
      return Double.compare(a, b) == 0;
    }
    return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.max(Math.abs(a), Math.abs(b)));
  }

  /** Whether two neighbouring values are equal within the tolerance, so that their order is free. */
  static boolean adjacentTie(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    for (int i = 1; i < sorted.length; ++i) {
      if (close(sorted[i - 1], sorted[i])) {
        return true;
      }
    }
    return false;
  }
}
