package org.stope;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelTest {
  /** A table of two features and a label that follows from them. */
  static Table labelled(int rows, long seed, boolean nominal) {
    Random random = new Random(seed);
    double[] x = new double[rows];
    double[] y = new double[rows];
    double[] label = new double[rows];
    for (int i = 0; i < rows; ++i) {
      x[i] = random.nextGaussian();
      y[i] = random.nextGaussian();
      label[i] = nominal ? (x[i] > 0 ? 1 : 0) : 3 * x[i] - y[i] + 1;
    }
    Column target = nominal ? Column.nominal("label", "low", "high") : Column.real("label");
    return Table.ofSchema(
        Arrays.asList(Column.real("x"), Column.real("y"), target.as(Role.LABEL)), x, y, label);
  }

  @Test
  void bytesGiveTheSameModel(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("m.stope");
    try (Table train = labelled(500, 1, true);
        Model model = Model.fit("classify", train, Options.of("n_neighbors", "7"), null);
        Table expected = model.apply(train, Options.of("proba", "true"), null)) {
      byte[] bytes = model.toBytes();
      model.write(file, null);
      assertArrayEquals(bytes, Files.readAllBytes(file));
      for (Model again :
          new Model[] {Model.fromBytes(bytes, null), Model.read(file, true, null), Model.read(file, false, null)}) {
        Arrays.fill(bytes, (byte) 0); // The model has its own copy.
        try (Table got = again.apply(train, Options.of("proba", "true"), null)) {
          for (int c = 0; c < expected.columns(); ++c) {
            assertArrayEquals(expected.column(c), got.column(c), 0.0);
          }
        }
        assertEquals(model.info(), again.info());
        again.close();
      }
    }
  }

  @Test
  void brokenBytesAreRefused() {
    try (Table train = labelled(50, 2, true);
        Model model = Model.fit("tree", train, null, null)) {
      byte[] bytes = model.toBytes();
      for (int i = 0; i < bytes.length; i += 7) {
        byte[] broken = bytes.clone();
        broken[i] ^= 0x10;
        assertEquals(
            StopeException.Code.INVALID_DATA, TableTest.codeOf(() -> Model.fromBytes(broken, null).close()));
      }
      assertEquals(
          StopeException.Code.INVALID_DATA, TableTest.codeOf(() -> Model.fromBytes(new byte[0], null).close()));
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Model.fromBytes(null, null).close()));
    }
  }

  @Test
  void builderForModelHasItsCodes() {
    List<Column> schema =
        Arrays.asList(Column.nominal("color", "red", "blue"), Column.real("x"),
            Column.nominal("label", "no", "yes").as(Role.LABEL));
    try (Table train =
            Table.ofSchema(schema, new double[] {0, 1, 0, 1}, new double[] {1, 2, 1, 2}, new double[] {0, 1, 0, 1});
        Model model = Model.fit("classify", train, Options.of("n_neighbors", "1"), null);
        TableBuilder builder = TableBuilder.forModel(model, 2)) {
      assertEquals(2, builder.columns());
      builder.append(new double[] {1, 2, 0, 1}, 2);
      try (Table rows = builder.finish();
          Table predicted = model.apply(rows, null, null)) {
        assertEquals(Arrays.asList("color", "x"), rows.names());
        assertEquals("yes", predicted.text(0, 0));
        assertEquals("no", predicted.text(1, 0));
      }
    }
  }

  @Test
  void listsOfPartsMerge() {
    try (Table all = labelled(400, 3, true);
        Table queries = labelled(30, 4, true);
        Model whole = Model.fit("neighbors", all, null, null)) {
      double[] x = all.column("x");
      double[] y = all.column("y");
      Neighbors[] parts = new Neighbors[2];
      for (int p = 0; p < 2; ++p) {
        try (Table part =
                Table.ofColumns(
                    Arrays.asList("x", "y"),
                    Arrays.copyOfRange(x, 200 * p, 200 * p + 200),
                    Arrays.copyOfRange(y, 200 * p, 200 * p + 200));
            Model model = Model.fit("neighbors", part, null, null)) {
          parts[p] = model.neighbors(queries, 5, null, null);
          for (int i = 0; i < parts[p].indices().length; ++i) {
            parts[p].indices()[i] += 200 * p;
          }
        }
      }
      Neighbors expected = whole.neighbors(queries, 5, null, null);
      Neighbors merged = Neighbors.merge(parts);
      assertArrayEquals(expected.indices(), merged.indices());
      assertArrayEquals(expected.distances(), merged.distances(), 0.0);
      assertEquals(30, merged.rows());
      assertEquals(5, merged.nNeighbors());
    }
  }

  @Test
  void shortListsEndWithNone() {
    try (Table train = Table.ofColumns(Arrays.asList("x"), new double[] {1, 2});
        Model model = Model.fit("neighbors", train, Options.of("compat", "rapidminer"), null)) {
      Neighbors lists = model.neighbors(train, 3, null, null);
      assertEquals(-1, lists.indices()[2]);
      assertEquals(-1, lists.indices()[5]);
      assertTrue(Double.isNaN(lists.distances()[2]) && lists.indices()[1] >= 0);
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> model.neighbors(train, 0, null, null)));
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT,
          TableTest.codeOf(() -> model.neighbors(train, Integer.MAX_VALUE, null, null)));
    }
  }

  @Test
  void radiusFindsAllWithin() {
    try (Table train = Table.ofColumns(Arrays.asList("x"), new double[] {0, 1, 2, 10});
        Model model = Model.fit("neighbors", train, null, null)) {
      RadiusNeighbors lists = model.radiusNeighbors(train, 1.5, null, null);
      assertEquals(4, lists.rows());
      assertArrayEquals(new long[] {0, 2, 5, 7, 8}, lists.offsets());
      assertArrayEquals(new long[] {0, 1, 1, 0, 2, 2, 1, 3}, lists.indices());
      assertArrayEquals(new double[] {0, 1, 0, 1, 1, 0, 1, 0}, lists.distances(), 0.0);
    }
  }

  @Test
  void distancesOfAllPairs() {
    try (Table one = Table.ofColumns(Arrays.asList("x"), new double[] {0, 3});
        Table other = Table.ofColumns(Arrays.asList("x"), new double[] {1, 2, 7})) {
      assertArrayEquals(new double[] {1, 2, 7, 2, 1, 4}, Jobs.distances(one, other, null, null), 0.0);
      assertArrayEquals(new double[] {0, 3, 3, 0}, Jobs.distances(one, null, null, null), 0.0);
    }
  }

  @Test
  void wrongOptionsAreNamed() {
    try (Table train = labelled(20, 5, true)) {
      StopeException error =
          assertThrows(
              StopeException.class, () -> Model.fit("classify", train, Options.of("n_neighbor", "3"), null));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, error.code());
      assertEquals("n_neighbor", error.option());
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Model.fit("classifier", train, null, null)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Model.fit("tree", null, null, null)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Options.of("a", "b", "c")));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Stope.describeOptions("no such job")));
      assertTrue(Stope.describeOptions("classify").contains("n_neighbors"));
    }
  }
}
