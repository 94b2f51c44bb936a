// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.stope.StopeException;
import weka.classifiers.Evaluation;
import weka.classifiers.lazy.IBk;
import weka.classifiers.lazy.StopeIBk;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.SerializedObject;
import weka.core.SparseInstance;
import weka.core.Utils;
import weka.core.neighboursearch.BallTree;
import weka.core.neighboursearch.LinearNNSearch;
import weka.core.neighboursearch.StopeSearch;
import weka.filters.Filter;
import weka.filters.unsupervised.instance.NonSparseToSparse;

/** The ways in which WEKA uses a lazy classifier. */
class IBkUseTest {
  private static final double ROUNDING = IBkComparison.ROUNDING;

  private static Instances table(int rows, long seed) {
    Tables.Shape shape = new Tables.Shape();
    shape.rows = rows;
    return Tables.random(shape, seed);
  }

  @Test
  void thousandsOfRowsGiveTheDistributionsOfIBk() throws Exception {
    Tables.Shape shape = new Tables.Shape();
    shape.rows = 3000;
    shape.missing = 0.02;
    shape.coarse = true; // Hundreds of ties at the k-th distance.
    shape.numeric = 3;
    IBkComparison.compare(Tables.random(shape, 1), "-K 10 -W 0 -I");
    shape.coarse = false;
    IBkComparison.compare(Tables.random(shape, 2), "-K 10 -W 0 -I");
  }

  @Test
  void everyQueryWidensTheRangesBeforeItsSearchAsInIBk() throws Exception {
    Instances table = table(400, 3);
    for (int i = 0; i < table.numInstances(); i++) {
      table.instance(i).setValue(0, i * i); // Each test row lies outside all rows before it.
    }
    Instances training = new Instances(table, 0, 200);
    Instances test = new Instances(table, 200, 200);
    IBk theirs = IBkComparison.built(new IBk(), "-K 3 -I", training);
    StopeIBk ours = (StopeIBk) IBkComparison.built(new StopeIBk(), "-K 3 -I", training);
    double[][] batch = ours.distributionsForInstances(test);
    for (int i = 0; i < test.numInstances(); i++) {
      assertArrayEquals(theirs.distributionForInstance(test.instance(i)), batch[i], ROUNDING, "row " + i);
    }
  }

  @Test
  void fixedRangesMakePredictionsIndependentOfTheirOrder() throws Exception {
    Instances table = table(400, 4);
    Instances training = Tables.half(table, 0);
    Instances test = Tables.half(table, 1);
    for (Instance row : test) {
      row.setValue(0, row.value(0) * 50);
    }
    String options = "-K 3 -I -A \"weka.core.neighboursearch.StopeSearch -fixed-ranges\"";
    double[][] forwards =
        ((StopeIBk) IBkComparison.built(new StopeIBk(), options, training)).distributionsForInstances(test);
    IBk backwards = IBkComparison.built(new StopeIBk(), options, training);
    IBk widening = IBkComparison.built(new StopeIBk(), "-K 3 -I", training);
    boolean differs = false;
    for (int i = test.numInstances() - 1; i >= 0; i--) {
      assertArrayEquals(forwards[i], backwards.distributionForInstance(test.instance(i)), 0, "row " + i);
      differs |= Math.abs(forwards[i][0] - widening.distributionForInstance(test.instance(i))[0]) > 1e-6;
    }
    assertTrue(differs, "the ranges of the test rows have no effect: the test says nothing");
  }

  @Test
  void rowsAddedOneByOneAndAWindowAreThoseOfIBk() throws Exception {
    Instances table = table(300, 5);
    for (String options : new String[] {"-K 3", "-K 3 -W 40", "-K 4 -W 25 -X -I"}) {
      IBk theirs = IBkComparison.built(new IBk(), options, new Instances(table, 0, 60));
      IBk ours = IBkComparison.built(new StopeIBk(), options, new Instances(table, 0, 60));
      for (int i = 60; i < table.numInstances(); i++) {
        String where = options + ", row " + i;
        double[] expected = theirs.distributionForInstance(table.instance(i));
        assertArrayEquals(expected, ours.distributionForInstance(table.instance(i)), ROUNDING, where);
        if (i % 3 == 0) {
          theirs.updateClassifier(table.instance(i));
          ours.updateClassifier(table.instance(i));
        }
        assertEquals(theirs.getNumTraining(), ours.getNumTraining(), where);
      }
    }
  }

  @Test
  void evaluationsAreThoseOfIBk() throws Exception {
    Instances table = table(250, 6);
    Evaluation theirs = new Evaluation(table);
    Evaluation ours = new Evaluation(table);
    theirs.crossValidateModel(new IBk(5), table, 10, new Random(1));
    ours.crossValidateModel(new StopeIBk(5), table, 10, new Random(1));
    assertArrayEquals(theirs.confusionMatrix()[0], ours.confusionMatrix()[0], 0);
    assertEquals(theirs.meanAbsoluteError(), ours.meanAbsoluteError(), ROUNDING);
    assertEquals(theirs.weightedAreaUnderROC(), ours.weightedAreaUnderROC(), ROUNDING);
  }

  @Test
  void aSerialisedClassifierPredictsTheSame() throws Exception {
    Instances table = table(400, 7);
    StopeIBk classifier = (StopeIBk) IBkComparison.built(new StopeIBk(), "-K 5 -I", Tables.half(table, 0));
    StopeIBk copy = (StopeIBk) new SerializedObject(classifier).getObject();
    double[][] before = classifier.distributionsForInstances(Tables.half(table, 1));
    StopeIBk later = (StopeIBk) new SerializedObject(classifier).getObject();
    assertTrue(later.distributionForInstance(table.instance(1))[0] >= 0); // It had an index when it was written.
    double[][] after = copy.distributionsForInstances(Tables.half(table, 1));
    for (int i = 0; i < before.length; i++) {
      assertArrayEquals(before[i], after[i], 0);
    }
  }

  @Test
  void severalThreadsMayPredictAtOnce() throws Exception {
    Instances table = table(600, 8);
    Instances test = Tables.half(table, 1);
    String options = "-K 3 -I -A \"weka.core.neighboursearch.StopeSearch -fixed-ranges\"";
    StopeIBk classifier = (StopeIBk) IBkComparison.built(new StopeIBk(), options, Tables.half(table, 0));
    double[][] expected = classifier.distributionsForInstances(test);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    List<Future<?>> parts = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      int from = t;
      parts.add(threads.submit(() -> {
        for (int i = from; i < test.numInstances(); i += 2) {
          assertArrayEquals(expected[i], classifier.distributionForInstance(test.instance(i)), 0);
        }
        return null;
      }));
    }
    for (Future<?> part : parts) {
      part.get();
    }
    threads.shutdown();
  }

  @Test
  void anotherSearchIsReplacedByOneWithItsDistance() throws Exception {
    StopeIBk classifier = new StopeIBk();
    BallTree other = new BallTree();
    other.setDistanceFunction(new weka.core.ManhattanDistance());
    classifier.setNearestNeighbourSearchAlgorithm(other);
    assertTrue(classifier.getNearestNeighbourSearchAlgorithm() instanceof StopeSearch);
    String options = Utils.joinOptions(classifier.getOptions());
    assertTrue(options.contains("StopeSearch") && options.contains("ManhattanDistance"), options);
    LinearNNSearch skipping = new LinearNNSearch();
    skipping.setSkipIdentical(true);
    classifier.setNearestNeighbourSearchAlgorithm(skipping);
    assertTrue(((StopeSearch) classifier.getNearestNeighbourSearchAlgorithm()).getSkipIdentical());
    classifier.setOptions(new String[] {"-K", "2"});
    assertFalse(((StopeSearch) classifier.getNearestNeighbourSearchAlgorithm()).getSkipIdentical());
  }

  @Test
  void theSearchServesWekasOwnIBk() throws Exception {
    Instances table = table(500, 9);
    Instances training = Tables.half(table, 0);
    IBk theirs = IBkComparison.built(new IBk(), "-K 4 -I", training);
    IBk with = IBkComparison.built(new IBk(), "-K 4 -I -A weka.core.neighboursearch.StopeSearch", training);
    for (Instance row : Tables.half(table, 1)) {
      assertArrayEquals(theirs.distributionForInstance(row), with.distributionForInstance(row), ROUNDING);
    }
  }

  @Test
  void queriesMayLackWhatEveryTrainingRowHas() throws Exception {
    Instances table = table(3000, 15);
    Random random = new Random(15);
    for (int i = 1; i < table.numInstances(); i += 2) {
      for (int a = 0; a + 1 < table.numAttributes(); a++) {
        if (random.nextInt(4) == 0 && i > 1000) { // The first block asks for an index without missing values.
          table.instance(i).setMissing(a);
        }
      }
    }
    IBkComparison.compare(table, "-K 3 -I");
  }

  @Test
  void identicalRowsArePassedOverAsByLinearNNSearch() throws Exception {
    Instances table = table(60, 16);
    for (int i = 0; i < table.numInstances(); i++) {
      for (int a = 0; a + 1 < table.numAttributes(); a++) {
        if (i % 20 > 1) { // Only a few rows differ from the others, fewer than k.
          table.instance(i).setValue(a, 1);
        }
      }
    }
    for (int k = 1; k < 9; k++) {
      IBkComparison.compare(table, "-I -K " + k + " -A \"weka.core.neighboursearch.LinearNNSearch -S\"");
    }
  }

  @Test
  void rowsThatAreExchangedBehindTheSearchAreSeen() throws Exception {
    Instances table = table(200, 17);
    StopeSearch search = new StopeSearch();
    search.setInstances(table);
    Instance query = (Instance) table.instance(0).copy();
    search.kNearestNeighbours(query, 1);
    search.kNearestNeighbours(query, 1); // The second search has made an index.
    query.setValue(0, 0.123);
    table.remove(table.numInstances() - 1);
    table.add(query);
    search.kNearestNeighbours(query, 1);
    assertEquals(0, search.getDistances()[0]);
  }

  @Test
  void sparseInstancesGiveTheDistributionsOfIBk() throws Exception {
    Tables.Shape shape = new Tables.Shape();
    shape.coarse = true;
    shape.missing = 0.1;
    Instances table = Tables.random(shape, 11);
    NonSparseToSparse filter = new NonSparseToSparse();
    filter.setInputFormat(table);
    Instances sparse = Filter.useFilter(table, filter);
    assertTrue(sparse.instance(0) instanceof SparseInstance);
    IBkComparison.compare(sparse, "-K 3 -I");
    IBkComparison.compare(sparse, "-K 3 -I " + IBkComparison.linear("weka.core.ManhattanDistance -D -R first-last"));
  }

  @Test
  void aValueThatIsInfiniteLeavesTheOtherRows() throws Exception {
    Instances table = table(100, 12);
    table.instance(3).setValue(0, Double.POSITIVE_INFINITY);
    StopeIBk classifier = (StopeIBk) IBkComparison.built(new StopeIBk(), "-K 1", table);
    for (double[] distribution : classifier.distributionsForInstances(new Instances(table, 10, 50))) {
      assertEquals(1, Utils.sum(distribution), ROUNDING);
      assertTrue(distribution[Utils.maxIndex(distribution)] > 0.9, Arrays.toString(distribution));
    }
  }

  @Test
  void anInterruptEndsThePredictions() throws Exception {
    Instances table = table(2000, 13);
    StopeIBk classifier = (StopeIBk) IBkComparison.built(new StopeIBk(), "-K 3", table);
    Thread.currentThread().interrupt();
    StopeException e = assertThrows(StopeException.class, () -> classifier.distributionsForInstances(table));
    assertEquals(StopeException.Code.CANCELLED, e.code());
    assertTrue(Thread.interrupted(), "the interrupt was lost");
    assertEquals(2000, classifier.distributionsForInstances(table).length);
  }

  @Test
  void numberOfThreadsAndBatchesChangeNoBit() throws Exception {
    Instances table = table(900, 14);
    Instances test = Tables.half(table, 1);
    String search = "-K 5 -I -A \"weka.core.neighboursearch.StopeSearch -threads ";
    StopeIBk one = (StopeIBk) IBkComparison.built(new StopeIBk(), search + "1\"", Tables.half(table, 0));
    StopeIBk two = (StopeIBk) IBkComparison.built(new StopeIBk(), search + "2 -device cpu\"", Tables.half(table, 0));
    double[][] expected = one.distributionsForInstances(test);
    for (int i = 0; i < test.numInstances(); i += 50) {
      Instances batch = new Instances(test, i, Math.min(50, test.numInstances() - i));
      double[][] found = two.distributionsForInstances(batch);
      for (int j = 0; j < found.length; j++) {
        assertArrayEquals(expected[i + j], found[j], 0, "row " + (i + j));
      }
    }
  }

  @Test
  void noTrainingRowsGiveTheDefaultDistribution() throws Exception {
    Instances table = table(30, 10);
    IBk ours = IBkComparison.built(new StopeIBk(), "", new Instances(table, 0));
    IBk theirs = IBkComparison.built(new IBk(), "", new Instances(table, 0));
    double[] expected = theirs.distributionForInstance(table.instance(0));
    assertArrayEquals(expected, ours.distributionForInstance(table.instance(0)), 0);
    assertArrayEquals(expected, ours.distributionsForInstances(table)[29], 0);
  }
}
