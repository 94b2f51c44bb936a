package org.stope;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Jobs on a GPU through the binding have the CPU's bits, and their reports name the GPU. */
class GpuTest {
  private static final int ROWS = 20_000;
  private static Table train;
  private static Table queries;

  @BeforeAll
  static void make() {
    boolean there = true;
    try (Run run = new Run().device("cuda"); Table one = Table.ofColumns(Arrays.asList("x"), new double[] {1, 2})) {
      Jobs.compute("stats", one, null, null, run).close();
    } catch (StopeException e) {
      there = e.code() != StopeException.Code.DEVICE_UNAVAILABLE;
    }
    assumeTrue(there, "needs an NVIDIA GPU and the CUDA plug-in");
    train = mixed(ROWS, 1);
    queries = mixed(500, 2);
  }

  @AfterAll
  static void close() {
    if (train != null) {
      train.close();
      queries.close();
    }
  }

  // Twelve numeric columns, two nominal ones, and a label that follows from some of them.
  private static Table mixed(int rows, long seed) {
    Random random = new Random(seed);
    List<Column> schema = new ArrayList<>();
    double[][] columns = new double[15][rows];
    for (int c = 0; c < 12; ++c) {
      schema.add(Column.real("x" + c));
      for (int i = 0; i < rows; ++i) columns[c][i] = random.nextGaussian();
    }
    for (int c = 12; c < 14; ++c) {
      schema.add(Column.nominal("c" + c, "red", "green", "blue"));
      for (int i = 0; i < rows; ++i) columns[c][i] = random.nextInt(3);
    }
    schema.add(Column.nominal("label", "no", "yes").as(Role.LABEL));
    for (int i = 0; i < rows; ++i) columns[14][i] = columns[0][i] + columns[12][i] > 1 ? 1 : 0;
    return Table.ofSchema(schema, columns);
  }

  private static void assertSame(Table expected, Table got) {
    assertEquals(expected.columns(), got.columns());
    for (int c = 0; c < expected.columns(); ++c) {
      assertArrayEquals(expected.column(c), got.column(c), 0.0);
    }
  }

  private static void assertOnGpu(Run run) {
    assertTrue(run.report().toLowerCase(java.util.Locale.ROOT).contains("cuda"), run.report());
  }

  @Test
  void devicesNameTheGpu() {
    assertTrue(Stope.devices().contains("GPU-"), Stope.devices());
  }

  @Test
  void votesAndListsAreThoseOfTheCpu() {
    for (String compat : new String[] {"none", "rapidminer"}) {
      Options options = Options.of("metric", "mixed-euclidean", "n_neighbors", "9", "weights", "distance",
          "compat", compat);
      Options proba = Options.of("proba", "true");
      try (Run cpu = new Run().device("cpu"); Run gpu = new Run().device("cuda");
          Model onCpu = Model.fit("classify", train, options, cpu);
          Model onGpu = Model.fit("classify", train, options, gpu);
          Table expected = onCpu.apply(queries, proba, cpu); Table got = onGpu.apply(queries, proba, gpu)) {
        assertSame(expected, got);
        assertOnGpu(gpu);
        onGpu.releaseDevices();
        try (Table again = onGpu.apply(queries, proba, gpu)) {
          assertSame(expected, again);
        }
        Neighbors lists = onCpu.neighbors(queries, 9, null, cpu);
        Neighbors found = onGpu.neighbors(queries, 9, null, gpu);
        assertArrayEquals(lists.indices(), found.indices());
        assertArrayEquals(lists.distances(), found.distances(), 0.0);
      }
    }
  }

  @Test
  void treesCutsAndStatisticsAreThoseOfTheCpu() {
    try (Run cpu = new Run().device("cpu"); Run gpu = new Run().device("cuda");
        Model onCpu = Model.fit("tree", train, Options.of("max_depth", "5"), cpu);
        Model onGpu = Model.fit("tree", train, Options.of("max_depth", "5"), gpu);
        Table expected = onCpu.apply(queries, null, cpu); Table got = onGpu.apply(queries, null, gpu)) {
      assertSame(expected, got);
      for (String job : new String[] {"stats", "best_cuts"}) {
        try (Table byCpu = Jobs.compute(job, train, null, null, cpu);
            Table byGpu = Jobs.compute(job, train, null, null, gpu)) {
          assertSame(byCpu, byGpu);
        }
      }
    }
  }

  @Test
  void threadsShareAModelOnTheGpu() throws Exception {
    try (Run run = new Run().device("cuda");
        Model model = Model.fit("neighbors", train, Options.of("metric", "gower"), run)) {
      Neighbors expected = model.neighbors(queries, 5, null, run);
      ExecutorService pool = Executors.newFixedThreadPool(6);
      try {
        List<Future<Neighbors>> found = new ArrayList<>();
        for (int i = 0; i < 24; ++i) {
          found.add(pool.submit(() -> {
            try (Run own = new Run().device("cuda")) {
              return model.neighbors(queries, 5, null, own);
            }
          }));
        }
        for (Future<Neighbors> each : found) {
          assertArrayEquals(expected.indices(), each.get().indices());
          assertArrayEquals(expected.distances(), each.get().distances(), 0.0);
        }
      } finally {
        pool.shutdownNow();
      }
    }
  }

  @Test
  void aGpuThatIsNotThereIsRefused() {
    try (Run run = new Run().device("cuda:63")) {
      assertEquals(StopeException.Code.DEVICE_UNAVAILABLE,
          TableTest.codeOf(() -> Model.fit("neighbors", train, null, run).neighbors(queries, 1, null, run)));
    }
  }
}
