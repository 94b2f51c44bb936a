// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The golden data sets through a real stope-serve: every bit of what the library in this process answers. */
final class ServerGoldensTest {
  @TempDir
  static Path folder;
  private static ServeProcess server;
  private static EngineSession here;
  private static EngineSession there;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue(GoldenRows.present(), "SKIP: there are no golden data sets (STOPE_SHARED)");
    String missing = ServeProcess.missing();
    assumeTrue(missing.isEmpty(), "SKIP the server: " + missing);
    server = new ServeProcess(folder, "--no-tokens");
    here = session("");
    there = session(server.address());
  }

  @AfterAll
  static void stop() {
    for (EngineSession session : new EngineSession[] {here, there}) {
      if (session != null) {
        session.close();
      }
    }
    if (server != null) {
      server.close();
    }
  }

  private static EngineSession session(String address) throws EngineException {
    Settings settings = new Settings(Settings.Device.AUTO, "", address);
    return Engines.of(settings).open(settings);
  }

  private static void equal(ResultTable expected, ResultTable got) {
    assertEquals(expected.columns(), got.columns());
    assertEquals(expected.rows(), got.rows());
    for (int c = 0; c < expected.columns(); c++) {
      assertEquals(expected.name(c), got.name(c));
      assertEquals(expected.nominal(c), got.nominal(c), expected.name(c));
      if (expected.nominal(c)) {
        assertEquals(expected.values(c), got.values(c));
      }
      double[] column = got.column(c);
      for (int row = 0; row < column.length; row++) {
        assertEquals(Double.doubleToLongBits(expected.column(c)[row]), Double.doubleToLongBits(column[row]),
            expected.name(c) + ", row " + row);
      }
    }
  }

  private static RowSink sink(EngineSession session, GoldenRows rows) throws EngineException {
    RowSink sink = session.rows(rows.headers(), rows.size());
    sink.append(rows.block(), rows.size());
    return sink;
  }

  private static Map<String, String> options(String... pairs) {
    Map<String, String> options = new HashMap<String, String>();
    for (int i = 0; i < pairs.length; i += 2) {
      options.put(pairs[i], pairs[i + 1]);
    }
    return options;
  }

  /** Fits here and there, applies both models, and closes them. */
  private static void knn(Map<String, Object> run) throws Exception {
    String dataset = (String) run.get("dataset");
    GoldenRows train = GoldenRows.of(dataset, "train");
    GoldenRows test = GoldenRows.of(dataset, "test").inOrderOf(train);
    boolean regression = "regression".equals(run.get("task"));
    String family = ((String) run.get("measure_types")).replace("Measures", "").replace("Divergences", "");
    Map<String, String> how = options("metric", family + "." + run.get("measure"), "compat", "rapidminer");
    if (run.get("kernel_type") != null) {
      how.put("metric.kernel_type", (String) run.get("kernel_type"));
    }
    String kind = regression ? "regress" : "classify";
    try (FittedModel model = here.fit(kind, sink(here, train), how);
        FittedModel remote = there.fit(kind, sink(there, train), how)) {
      for (Object k : JsonText.list(run.get("k"))) {
        for (String weights : new String[] {"uniform", "distance"}) {
          Map<String, String> vote = options("n_neighbors", String.valueOf(((Double) k).intValue()), "weights",
              weights);
          if (!regression) {
            vote.put("proba", "true");
          }
          equal(model.apply(here, test.block(), test.size(), vote),
              remote.apply(there, test.block(), test.size(), vote));
        }
      }
    }
  }

  @TestFactory
  List<DynamicTest> predictionsAreEqualBitForBit() throws Exception {
    List<DynamicTest> tests = new ArrayList<DynamicTest>();
    for (Object item : GoldenRows.runs()) {
      Map<String, Object> run = JsonText.object(item);
      tests.add(DynamicTest.dynamicTest(run.get("neighbors") + " " + run.get("kernel_type"), () -> knn(run)));
    }
    assertEquals(234, tests.size());
    return tests;
  }

  @TestFactory
  List<DynamicTest> otherJobsAreEqualBitForBit() throws Exception {
    List<DynamicTest> tests = new ArrayList<DynamicTest>();
    for (String dataset : new String[] {"iris", "golf", "labor", "sonar", "synth_mixed", "polynomial"}) {
      GoldenRows all = GoldenRows.of(dataset, "train");
      GoldenRows numbers = all.numericOnly();
      tests.add(DynamicTest.dynamicTest(dataset + " stats", () -> equal(
          here.compute("stats", sink(here, all), null, options()),
          there.compute("stats", sink(there, all), null, options()))));
      if (numbers.headers().size() > 1) {
        tests.add(DynamicTest.dynamicTest(dataset + " pca", () -> parts("pca", numbers.regularOnly(), "components",
            options("missing", "mean", "scaling", "z"))));
        tests.add(DynamicTest.dynamicTest(dataset + " pairwise", () -> equal(
            here.compute("pairwise", sink(here, numbers), sink(here, numbers), options("n_neighbors", "3")),
            there.compute("pairwise", sink(there, numbers), sink(there, numbers), options("n_neighbors", "3")))));
      }
      if (!dataset.equals("polynomial")) {
        tests.add(DynamicTest.dynamicTest(dataset + " tree", () -> parts("tree", all, "nodes",
            options("missing", "fill", "criterion", "gini"))));
        tests.add(DynamicTest.dynamicTest(dataset + " cuts", () -> parts("cuts", all, "cuts",
            options("missing", "fill", "method", "md-global"))));
      }
    }
    return tests;
  }

  private static void parts(String kind, GoldenRows rows, String part, Map<String, String> options) throws Exception {
    try (FittedModel model = here.fit(kind, sink(here, rows), options);
        FittedModel remote = there.fit(kind, sink(there, rows), options)) {
      equal(model.part(part), remote.part(part));
    }
  }

  @Test
  void modelsMoveBetweenHereAndThere() throws Exception {
    GoldenRows train = GoldenRows.of("synth_mixed", "train");
    GoldenRows test = GoldenRows.of("synth_mixed", "test").inOrderOf(train);
    Map<String, String> how = options("metric", "Mixed.MixedEuclideanDistance", "compat", "rapidminer");
    try (FittedModel model = here.fit("classify", sink(here, train), how)) {
      ResultTable expected = model.apply(here, test.block(), test.size(), options("proba", "true"));
      byte[] file = model.bytes();
      try (FittedModel sent = there.load(file); FittedModel fitted = there.fit("classify", sink(there, train), how)) {
        equal(expected, sent.apply(there, test.block(), test.size(), options("proba", "true")));
        assertArrayEquals(file, sent.bytes());
        assertTrue(there.holds(sent) && !there.holds(model) && here.holds(model) && !here.holds(sent));
        try (FittedModel back = here.load(fitted.bytes())) {
          equal(expected, back.apply(here, test.block(), test.size(), options("proba", "true")));
        }
      }
    }
  }

  @Test
  void mistakesHaveTheSameWordsHereAndThere() throws Exception {
    GoldenRows train = GoldenRows.of("iris", "train");
    for (Map<String, String> wrong : java.util.Arrays.asList(options("metric", "euclidian"), options("metrik", "x"),
        options("n_neighbors", "0"))) {
      EngineException expected = assertThrows(EngineException.class,
          () -> here.fit("classify", sink(here, train), wrong));
      EngineException got = assertThrows(EngineException.class, () -> there.fit("classify", sink(there, train), wrong));
      assertEquals(expected.getMessage(), got.getMessage());
      assertEquals(expected.kind(), got.kind());
    }
  }

  @Test
  void aTokenIsWantedAndRightsAreHeeded() throws Exception {
    Path own = Files.createDirectory(folder.resolve("tokens"));
    try (ServeProcess closed = new ServeProcess(own)) {
      ServerAddress address = ServerAddress.of(closed.address());
      Path file = own.resolve("file");
      Settings settings = new Settings(Settings.Device.AUTO, "", closed.address());
      String[] rights = {"", "wrong", ServeProcess.command("token", "add", "a", "--right", "read", "--state",
          own.resolve("state").toString()), ServeProcess.command("token", "add", "b", "--right", "compute", "--state",
              own.resolve("state").toString())};
      for (String token : rights) {
        String line = closed.address() + " " + (token.isEmpty() ? "-" : token);
        Files.write(file, line.getBytes(StandardCharsets.US_ASCII));
        Files.setPosixFilePermissions(file, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        ServerAccess access = ServerAccess.to(address, new HashMap<String, String>(), file);
        if (token.equals(rights[3])) {
          try (EngineSession session = RemoteEngine.open(address, access, settings)) {
            assertEquals(4, session.compute("stats", sink(session, GoldenRows.of("iris", "train").regularOnly()), null,
                options()).rows());
          }
        } else {
          EngineException error = assertThrows(EngineException.class,
              () -> RemoteEngine.open(address, access, settings));
          assertEquals(EngineException.Kind.NO_ACCESS, error.kind(), error.getMessage());
        }
      }
    }
  }

  @Test
  void aLongJobIsStopped() throws Exception {
    GoldenRows train = GoldenRows.ofNumbers(60000, 40);
    try (EngineSession session = session(server.address())) {
      Thread stopper = new Thread(() -> {
        while (session.progress().share() == 0) {
          Thread.yield();
        }
        session.cancel();
      });
      stopper.setDaemon(true);
      stopper.start();
      EngineException error = assertThrows(EngineException.class,
          () -> session.compute("pairwise", sink(session, train), null,
              options("n_neighbors", "50", "metric", "cosine")));
      assertEquals(EngineException.Kind.CANCELLED, error.kind(), error.getMessage());
      stopper.join();
    }
    try (RemoteSession asking = new RemoteSession(ServerAddress.of(server.address()),
        ServerAccess.to(ServerAddress.of(server.address())))) {
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      String states;
      do {
        Thread.sleep(50);
        Map<String, Object> jobs = asking.ask(HttpRequest.get("/v1/jobs"), (answer) -> answer.json());
        states = jobs.toString();
      } while (states.contains("state=running") && System.nanoTime() < until);
      assertTrue(states.contains("state=cancelled") && !states.contains("state=running"), states);
    }
  }
}
