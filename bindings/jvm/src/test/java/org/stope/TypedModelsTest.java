package org.stope;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The classes of single kinds of model give what their engine gives. */
class TypedModelsTest {
  private static final double[] X = {1, 2, 3, 4};

  private static Table numbers() {
    return Table.ofSchema(
        Arrays.asList(Column.real("x"), Column.real("y").as(Role.LABEL)), X, new double[] {3, 5, 7, 9});
  }

  private static Table classes() {
    return Table.ofSchema(
        Arrays.asList(Column.real("x"), Column.nominal("label", "low", "high").as(Role.LABEL)),
        X, new double[] {0, 0, 1, 1});
  }

  @Test
  void knn() {
    try (Table train = classes();
        Knn knn =
            Knn.classifier().nNeighbors(3).weights("distance").metric("minkowski").metricParameter("p", 3)
                .featureWeights(2).normalize("range").compat("none").fit(train, null);
        Table got = knn.predictWithConfidences(train, null);
        Table plain = knn.predict(train, null);
        Knn again = Knn.of(Model.fromBytes(knn.model().toBytes(), null))) {
      assertEquals("low", got.text(0, got.indexOf("prediction")));
      assertEquals("high", plain.text(3, 0));
      assertEquals(1, got.column("confidence(high)")[3]);
      assertEquals(Arrays.asList("prediction", "confidence(low)", "confidence(high)"), got.names());
      assertArrayEquals(new long[] {0, 1}, Arrays.copyOf(knn.neighbors(train, 2, null, null).indices(), 2));
      assertEquals(4, again.radiusNeighbors(train, 1e9, null, null).indices().length / 4);
      String info = knn.model().info();
      assertTrue(info.contains("\"n_neighbors\":\"3\"") && info.contains("\"weights\":\"distance\""), info);
      assertTrue(info.contains("\"metric.p\":\"3\"") && info.contains("\"normalize\":\"range\""), info);
    }
    try (Table train = numbers();
        Knn knn = Knn.regressor().nNeighbors(1).fit(train, null);
        Table got = knn.predict(train, null);
        Knn searcher = Knn.searcher().fit(train, null)) {
      assertArrayEquals(train.column("y"), got.column("prediction"));
      assertArrayEquals(new long[] {0, 1, 2, 3}, searcher.neighbors(train, 1, null, null).indices());
    }
  }

  @Test
  void normalizer() {
    try (Table train = Table.ofColumns(Arrays.asList("x"), X);
        Normalizer normalizer = Normalizer.fit(train, Options.of("method", "range", "max", "3"), null);
        Table got = normalizer.apply(train, null);
        Table parameters = normalizer.parameters()) {
      assertArrayEquals(new double[] {0, 1, 2, 3}, got.column("x"), 1e-15);
      assertEquals("x", parameters.text(0, parameters.indexOf("name")));
    }
  }

  @Test
  void discretizer() {
    try (Table train = classes();
        Discretizer discretizer = Discretizer.fit(train, null, null);
        Table coded = discretizer.apply(train, null);
        Table cuts = discretizer.cuts();
        Table found = Discretizer.findCuts(train, Options.of("method", "equal-width", "n_bins", "2"), null);
        Table best = Discretizer.bestCuts(train, null, null)) {
      assertArrayEquals(new double[] {2.5}, cuts.column("number"));
      assertArrayEquals(new double[] {0, 0, 1, 1}, coded.column("x"));
      assertArrayEquals(new double[] {2.5}, found.column("number"));
      assertArrayEquals(new double[] {2.5}, best.column("cut"));
    }
  }

  @Test
  void tree() {
    try (Table train = classes();
        Tree tree = Tree.fit(train, null, null);
        Table got = tree.predict(train, null);
        Table sure = tree.predictWithConfidences(train, null);
        Table nodes = tree.nodes()) {
      assertArrayEquals(train.column("label"), got.column("prediction"));
      assertArrayEquals(new double[] {1, 1, 0, 0}, sure.column("confidence(low)"));
      assertEquals(3, nodes.rows());
      assertEquals(2.5, nodes.column("cut")[0]);
      assertTrue(tree.text().contains("x < 2.5: low (2 rows)"), tree.text());
      assertTrue(tree.rules().contains("then label = high (2 rows)"), tree.rules());
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> tree.model().text("prose")));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> tree.model().table("cuts")));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Pca.of(tree.model())));
    }
  }

  @Test
  void stats() {
    try (Table train = classes()) {
      List<Stats> all = Stats.describe(train, Options.of("distinct", "true"), null);
      assertEquals(2, all.size());
      Stats x = all.get(0);
      assertEquals("x", x.name());
      assertNull(x.group());
      assertEquals(4, x.rows());
      assertEquals(4, x.count());
      assertEquals(0, x.missing());
      assertEquals(1, x.min());
      assertEquals(0, x.minRow());
      assertEquals(4, x.max());
      assertEquals(3, x.maxRow());
      assertEquals(10, x.sum());
      assertEquals(2.5, x.mean());
      assertEquals(5.0 / 3, x.variance(), 1e-15);
      assertEquals(Math.sqrt(5.0 / 3), x.deviation(), 1e-15);
      assertEquals(0, x.skewness(), 1e-15);
      assertEquals(0, x.zeros());
      assertEquals(4, x.distinct());
      assertTrue(Double.isNaN(all.get(1).mean()));
      List<Stats> byClass = Stats.describe(train, Options.of("by", "label"), null);
      assertEquals("high", byClass.get(4).group());
      assertEquals(3.5, byClass.get(4).mean());
    }
  }

  @Test
  void pca() {
    try (Table train = Table.ofColumns(Arrays.asList("x", "y"), X, new double[] {2, 4, 6, 8});
        Pca pca = Pca.fit(train, Options.of("scaling", "none"), null);
        Table scores = pca.apply(train, null);
        Table components = pca.components()) {
      assertEquals(5 * 5.0 / 3, pca.explainedVariance()[0], 1e-12);
      assertEquals(1, pca.explainedVarianceRatio()[0], 1e-12);
      assertEquals(1.5 * Math.sqrt(5), Math.abs(scores.column("pc1")[0]), 1e-12);
      assertTrue(components.rows() >= 6);
    }
  }

  @Test
  void linearModel() {
    try (Table train = numbers();
        LinearModel model = LinearModel.fit(train, null, null);
        Table got = model.predict(train, null);
        Table coefficients = model.coefficients()) {
      assertArrayEquals(new double[] {1, 2}, coefficients.column("coefficient"), 1e-12);
      assertArrayEquals(train.column("y"), got.column("prediction"), 1e-12);
    }
  }
}
