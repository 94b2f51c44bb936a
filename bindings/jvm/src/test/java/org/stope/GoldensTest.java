package org.stope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Every recorded run of the real RapidMiner 5.3, through the binding. */
class GoldensTest {
  @BeforeAll
  static void present() {
    assumeTrue(Goldens.present(), "no reference results (STOPE_SHARED)");
  }

  /** One recorded run of k-NN: model, test table, and distances to all training rows where ties have to be judged. */
  private static final class KnnRun implements AutoCloseable {
    final String measure;
    final boolean regression;
    final Table train;
    final Table test;
    final Model model;
    private double[] all;

    KnnRun(Map<String, Object> run) {
      measure = (String) run.get("measure");
      regression = "regression".equals(run.get("task"));
      train = Goldens.part((String) run.get("dataset"), "train");
      test = Goldens.part((String) run.get("dataset"), "test");
      Options options = Goldens.metric((String) run.get("measure_types"), measure, run.get("kernel_type"));
      model = Model.fit(regression ? "regress" : "classify", train, options, null);
    }

    /** The distances of a test row to all training rows, in their order. */
    double[] distances(int row) {
      int n = (int) train.rows();
      if (all == null) {
        Neighbors lists = model.neighbors(test, n, null, null);
        all = new double[lists.distances().length];
        for (int i = 0; i < all.length; ++i) {
          all[i / n * n + (int) lists.indices()[i]] = lists.distances()[i];
        }
      }
      return Arrays.copyOfRange(all, row * n, (row + 1) * n);
    }

    boolean tieAtBoundary(int row, int k) {
      double[] d = distances(row);
      Arrays.sort(d);
      return Goldens.adjacentTie(Arrays.copyOf(d, Math.min(d.length, k + 1)));
    }

    /** Whether two of the distances that ever entered RapidMiner's heap are tied: its order may then differ. */
    boolean tieInHistory(int row, int k) {
      PriorityQueue<Double> heap = new PriorityQueue<>((a, b) -> Double.compare(b, a));
      List<Double> entered = new ArrayList<>();
      for (double d : distances(row)) {
        if (heap.size() == k) {
          if (Double.compare(d, heap.peek()) >= 0) {
            continue;
          }
          heap.poll();
        }
        heap.add(d);
        entered.add(d);
      }
      return Goldens.adjacentTie(entered.stream().mapToDouble(d -> d).toArray());
    }

    @Override
    public void close() {
      model.close();
      train.close();
      test.close();
    }
  }

  @TestFactory
  List<DynamicTest> knn() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (Map<String, Object> run : Goldens.list(Goldens.json("MANIFEST.json"), "runs")) {
      String name = run.get("neighbors") + " " + run.get("kernel_type");
      tests.add(
          DynamicTest.dynamicTest(
              name,
              () -> {
                try (KnnRun knn = new KnnRun(run)) {
                  checkNeighbors(knn, Goldens.records((String) run.get("neighbors")));
                  checkPredictions(knn, Goldens.records((String) run.get("predictions")));
                }
              }));
    }
    assertEquals(234, tests.size());
    return tests;
  }

  private static void checkNeighbors(KnnRun run, List<String[]> records) {
    Map<Integer, Map<Integer, List<String[]>>> lists = new LinkedHashMap<>();
    for (String[] r : records.subList(1, records.size())) {
      lists
          .computeIfAbsent(Integer.valueOf(r[0]), k -> new LinkedHashMap<>())
          .computeIfAbsent(Integer.valueOf(r[1]), row -> new ArrayList<>())
          .add(r);
    }
    assertTrue(!lists.isEmpty());
    for (Map.Entry<Integer, Map<Integer, List<String[]>>> ofK : lists.entrySet()) {
      int k = ofK.getKey();
      Neighbors got = run.model.neighbors(run.test, k, null, null);
      for (Map.Entry<Integer, List<String[]>> list : ofK.getValue().entrySet()) {
        checkList(run, k, list.getKey(), list.getValue(), got);
      }
    }
  }

  private static void checkList(KnnRun run, int k, int row, List<String[]> want, Neighbors got) {
    String where = "k = " + k + ", row " + row;
    boolean same = true;
    double[] wanted = new double[want.size()];
    double[] found = new double[want.size()];
    for (int i = 0; i < want.size(); ++i) {
      int at = row * k + i;
      wanted[i] = Goldens.number(want.get(i)[4]);
      found[i] = got.distances()[at];
      same = same && Long.parseLong(want.get(i)[3]) == got.indices()[at]
          && Goldens.same(run.measure, wanted[i], found[i]);
    }
    for (int i = want.size(); i < k; ++i) {
      assertEquals(-1, got.indices()[row * k + i], where);
    }
    if (same) {
      return;
    }
    assertTrue(!Goldens.isExact(run.measure), where + ": " + Arrays.toString(found));
    Arrays.sort(wanted);
    Arrays.sort(found);
    for (int i = 0; i < wanted.length; ++i) {
      assertTrue(Goldens.close(wanted[i], found[i]), where + ": " + found[i] + ", expected " + wanted[i]);
    }
    assertTrue(run.tieInHistory(row, k) || run.tieAtBoundary(row, k), where + ": no tie explains the order");
  }

  private static void checkPredictions(KnnRun run, List<String[]> records) {
    String previous = "";
    Table predicted = null;
    double[] values = {};
    int checked = 0;
    for (String[] r : records.subList(1, records.size())) {
      int k = Integer.parseInt(r[0]);
      if (!previous.equals(r[0] + r[1])) {
        previous = r[0] + r[1];
        Options options = Options.of("n_neighbors", r[0], "weights", r[1].equals("true") ? "distance" : "uniform");
        if (predicted != null) {
          predicted.close();
        }
        predicted = run.model.apply(run.test, run.regression ? options : options.set("proba", true), null);
        values = new double[(int) predicted.rows() * predicted.columns()];
        predicted.copy(0, 0, (int) predicted.rows(), predicted.columns(), values);
      }
      int row = Integer.parseInt(r[2]);
      String where = "k = " + r[0] + ", weighted " + r[1] + ", row " + row;
      int at = row * predicted.columns();
      if (run.regression) {
        assertTrue(
            Goldens.same(run.measure, Goldens.number(r[3]), values[at])
                || (!Goldens.isExact(run.measure) && run.tieAtBoundary(row, k)),
            where + ": " + values[at] + ", expected " + r[3]);
      } else {
        checkClass(run, k, row, r, predicted.text(row, 0), Arrays.copyOfRange(values, at + 1, at + predicted.columns()),
            where);
      }
      ++checked;
    }
    assertTrue(checked > 0);
    predicted.close();
  }

  private static void checkClass(
      KnnRun run, int k, int row, String[] want, String got, double[] confidences, String where) {
    assertEquals(want.length - 4, confidences.length, where);
    boolean agree = true;
    double[] wanted = new double[confidences.length];
    for (int c = 0; c < confidences.length; ++c) {
      wanted[c] = Goldens.number(want[4 + c]);
      agree = agree && Goldens.same(run.measure, wanted[c], confidences[c]);
    }
    boolean sameClass = want[3].equals(got == null ? "?" : got);
    boolean exact = Goldens.isExact(run.measure);
    boolean fine = agree && (sameClass || (!exact && Goldens.adjacentTie(wanted)));
    assertTrue(
        fine || (!exact && run.tieAtBoundary(row, k)),
        where + ": " + got + " " + Arrays.toString(confidences) + ", expected " + Arrays.toString(want));
  }

  @TestFactory
  List<DynamicTest> refused() throws IOException {
    List<Map<String, Object>> errors = new ArrayList<>();
    errors.addAll(Goldens.list(Goldens.json("MANIFEST.json"), "expected_errors"));
    errors.addAll(Goldens.list(Goldens.json("MANIFEST_OPS.json"), "knn_type_errors"));
    List<DynamicTest> tests = new ArrayList<>();
    for (Map<String, Object> error : errors) {
      String measure = (String) error.get("measure");
      tests.add(
          DynamicTest.dynamicTest(
              error.get("dataset") + " " + measure,
              () -> {
                Options options = Goldens.metric((String) error.get("measure_types"), measure, null);
                try (Table train = Goldens.part((String) error.get("dataset"), "train");
                    Table test = Goldens.part((String) error.get("dataset"), "test")) {
                  StopeException refused =
                      assertThrows(
                          StopeException.class,
                          () -> {
                            try (Model model = Model.fit("neighbors", train, options, null)) {
                              model.neighbors(test, 3, null, null);
                            }
                          });
                  assertEquals(StopeException.Code.UNSUPPORTED, refused.code(), refused.getMessage());
                }
              }));
    }
    assertEquals(49, tests.size());
    return tests;
  }

  @TestFactory
  List<DynamicTest> operators() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (Map<String, Object> run : Goldens.list(Goldens.json("MANIFEST_OPS.json"), "runs")) {
      String operator = (String) run.get("operator");
      if (operator.equals("cross_distances")) {
        tests.add(DynamicTest.dynamicTest((String) run.get("output"), () -> checkCross(run)));
      } else if (operator.equals("normalize")) {
        tests.add(DynamicTest.dynamicTest((String) run.get("output"), () -> checkNormalize(run)));
      }
    }
    assertEquals(36 + 8, tests.size());
    return tests;
  }

  @SuppressWarnings("unchecked")
  private static void checkCross(Map<String, Object> run) throws IOException {
    List<String> inputs = (List<String>) run.get("inputs");
    Map<String, Object> p = (Map<String, Object>) run.get("parameters");
    String types = (String) p.getOrDefault("measure_types", "MixedMeasures");
    String measure = "MixedEuclideanDistance";
    for (String key : Arrays.asList("divergence", "nominal_measure", "numerical_measure", "mixed_measure")) {
      measure = (String) p.getOrDefault(key, measure);
    }
    Options options = Goldens.metric(types, measure, null);
    if ("true".equals(p.get("only_top_k"))) {
      options.set("n_neighbors", p.get("k"));
    }
    options.set("search_for", p.get("search_for")).set("similarities", p.get("compute_similarities"));
    List<String[]> want = Goldens.records((String) run.get("output"));
    try (Table request = Goldens.input(inputs.get(0));
        Table reference = Goldens.input(inputs.get(1));
        Table got = Jobs.compute("pairwise", request, reference, options, null)) {
      assertEquals(want.size() - 1, got.rows());
      double[] from = got.column("request");
      double[] to = got.column("document");
      double[] distances = got.column("distance");
      for (int i = 0; i < distances.length; ++i) {
        String[] record = want.get(i + 1);
        String where = run.get("output") + " line " + i + ": " + distances[i];
        assertTrue(Goldens.same(measure, Goldens.number(record[2]), distances[i]), where);
        if (Goldens.isExact(measure)) {
          assertEquals(Goldens.number(record[0]) - 1, from[i], where);
          assertEquals(Goldens.number(record[1]) - 1, to[i], where);
        }
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static void checkNormalize(Map<String, Object> run) throws IOException {
    Map<String, Object> p = (Map<String, Object>) run.get("parameters");
    String method = ((String) p.get("method")).split("[- ]")[0].toLowerCase(java.util.Locale.ROOT);
    Options options = Options.of("method", method, "compat", "rapidminer").set("min", p.get("min")).set("max", p.get("max"));
    List<String[]> want = Goldens.records((String) run.get("output"));
    List<String> names = Arrays.asList(want.get(0));
    int compared = 0;
    try (Table table = Goldens.input(((List<String>) run.get("inputs")).get(0));
        Normalizer normalizer = Normalizer.fit(table, options, null);
        Table got = normalizer.apply(table, null)) {
      assertEquals(want.size() - 1, got.rows());
      for (Column column : got.schema()) {
        int field = names.indexOf(column.name());
        if (column.type().isNominal() || field < 0) {
          continue;
        }
        double[] values = got.column(column.name());
        for (int row = 0; row < values.length; ++row) {
          String text = want.get(row + 1)[field];
          double wanted = text.isEmpty() || text.equals("?") ? Double.NaN : Goldens.number(text);
          assertTrue(Goldens.close(wanted, values[row]), column.name() + " row " + row + ": " + values[row]);
          ++compared;
        }
      }
    }
    assertTrue(compared > 100, compared + " values");
  }
}
