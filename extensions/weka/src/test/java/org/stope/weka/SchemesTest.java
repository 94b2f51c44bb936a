// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.beans.Introspector;
import java.beans.PropertyDescriptor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.stope.StopeException;
import weka.attributeSelection.StopeCutEval;
import weka.classifiers.Classifier;
import weka.classifiers.lazy.StopeIBk;
import weka.classifiers.meta.Bagging;
import weka.classifiers.meta.FilteredClassifier;
import weka.classifiers.trees.StopeTree;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.OptionHandler;
import weka.core.SelectedTag;
import weka.core.SerializedObject;
import weka.core.Utils;
import weka.core.neighboursearch.StopeSearch;
import weka.experiment.ClassifierSplitEvaluator;
import weka.filters.Filter;
import weka.filters.supervised.attribute.SupervisedDiscretize;
import weka.filters.unsupervised.instance.NonSparseToSparse;

/** What holds for all schemes: properties, copies, odd tables, threads, interrupts. */
class SchemesTest {
  private static List<OptionHandler> schemes() {
    return Arrays.asList(new StopeTree(), new SupervisedDiscretize(), new StopeCutEval(), new StopeSearch());
  }

  private static Instances table(long seed) {
    Tables.Shape shape = new Tables.Shape();
    shape.missing = 0.05;
    return Tables.random(shape, seed);
  }

  /** Another value than the present one, as a person sets it in an editor; null if the property is none of an option. */
  private static Object other(Object value) {
    if (value instanceof Integer) {
      return (Integer) value + 3;
    } else if (value instanceof Double) {
      return (Double) value + 0.25;
    } else if (value instanceof Boolean) {
      return !(Boolean) value;
    } else if (value instanceof SelectedTag) {
      SelectedTag tag = (SelectedTag) value;
      return new SelectedTag(tag.getTags()[1].getID(), tag.getTags());
    }
    return "auto".equals(value) ? "cpu" : "first-last".equals(value) ? "2,4" : "".equals(value) ? "1GB" : null;
  }

  private static String shown(Object value) {
    return value instanceof SelectedTag ? ((SelectedTag) value).getSelectedTag().getIDStr() : String.valueOf(value);
  }

  @Test
  void everyPropertyOfAnEditorIsAnOptionThatCopiesAndCommandLinesKeep() throws Exception {
    int changed = 0;
    for (OptionHandler scheme : schemes()) {
      for (PropertyDescriptor property : Introspector.getBeanInfo(scheme.getClass()).getPropertyDescriptors()) {
        if (property.getReadMethod() == null || property.getWriteMethod() == null) {
          continue;
        }
        OptionHandler one = scheme.getClass().getDeclaredConstructor().newInstance();
        Object value = other(property.getReadMethod().invoke(one));
        if (value == null) {
          continue; // A distance function, or instances.
        }
        property.getWriteMethod().invoke(one, value);
        OptionHandler read = scheme.getClass().getDeclaredConstructor().newInstance();
        read.setOptions(one.getOptions());
        OptionHandler copied = (OptionHandler) new SerializedObject(one).getObject();
        for (OptionHandler same : Arrays.asList(one, read, copied)) {
          assertEquals(shown(value), shown(property.getReadMethod().invoke(same)), property.getName());
        }
        if (property.getWriteMethod().getDeclaringClass() == scheme.getClass()) { // WEKA keeps its own where none is given.
          read.setOptions(new String[0]);
          assertEquals(Utils.joinOptions(scheme.getOptions()), Utils.joinOptions(read.getOptions()), property.getName());
        }
        changed++;
      }
    }
    assertTrue(changed >= 30, "only " + changed + " properties: the test says nothing");
  }

  @Test
  void aCopyTakesTheTagsOfTheClass() throws Exception {
    SupervisedDiscretize copy = (SupervisedDiscretize) new SerializedObject(new SupervisedDiscretize()).getObject();
    copy.setMethod(new SelectedTag(4, SupervisedDiscretize.TAGS_METHOD));
    assertEquals("chimerge", copy.getMethod().getSelectedTag().getIDStr());
  }

  /** Texts, dates and relations beside the numbers of a random table. */
  private static Instances withEveryType() {
    Instances table = table(2);
    Instances bag = new Instances("bag", new ArrayList<>(Arrays.asList(new Attribute("inner"))), 0);
    table.insertAttributeAt(new Attribute("bag", bag), 0);
    table.insertAttributeAt(new Attribute("note", (List<String>) null), 1);
    table.insertAttributeAt(new Attribute("day", "yyyy-MM-dd"), 2);
    for (int i = 0; i < table.numInstances(); i++) {
      Instances own = new Instances(bag, 1);
      own.add(new DenseInstance(1, new double[] {i}));
      table.instance(i).setValue(0, table.attribute(0).addRelation(own));
      table.instance(i).setValue(1, "note " + i);
      table.instance(i).setValue(2, 86400000.0 * i);
      table.instance(i).setClassValue(i < 60 ? 0 : 1);
    }
    return table;
  }

  @Test
  void theFilterPassesTextsAndRelationsOnAndCutsDates() throws Exception {
    Instances table = withEveryType();
    SupervisedDiscretize filter = new SupervisedDiscretize();
    filter.setInputFormat(table);
    Instances coded = Filter.useFilter(table, filter);
    assertEquals("note 77", coded.instance(77).stringValue(1));
    assertEquals(77, coded.instance(77).relationalValue(0).instance(0).value(0));
    // The cut is at noon of day 59, which the format of the attribute cannot say.
    assertEquals(2, coded.attribute(2).numValues());
    assertTrue(coded.attribute(2).value(1).matches(".*1970-03-01T\\d\\d:00:00.000.*"), coded.attribute(2).toString());
    assertEquals(0, coded.instance(59).value(2));
    assertEquals(1, coded.instance(60).value(2));
    Filter copy = (Filter) new SerializedObject(filter).getObject();
    assertEquals(coded.toString(), Filter.useFilter(table, copy).toString());
  }

  @Test
  void aTreeSaysACutBetweenTwoDaysAndASmallNumber() throws Exception {
    Instances table = withEveryType();
    table.deleteAttributeAt(0);
    table.deleteAttributeAt(0);
    StopeTree tree = new StopeTree();
    tree.buildClassifier(table);
    assertTrue(tree.toString().contains("day < 1970-03-01T"), tree.toString());
    Instances small = new Instances(table);
    small.deleteAttributeAt(0);
    for (int i = 0; i < small.numInstances(); i++) {
      small.instance(i).setValue(0, i * 1e-9);
    }
    tree.buildClassifier(small);
    assertTrue(tree.toString().contains("E-8"), tree.toString());
  }

  @Test
  void sparseInstancesAreAsGoodAsOthers() throws Exception {
    Instances table = table(3);
    NonSparseToSparse sparsify = new NonSparseToSparse();
    sparsify.setInputFormat(table);
    Instances sparse = Filter.useFilter(table, sparsify);
    StopeTree one = new StopeTree();
    StopeTree two = new StopeTree();
    one.buildClassifier(table);
    two.buildClassifier(sparse);
    assertEquals(one.graph(), two.graph());
    StopeCutEval rated = new StopeCutEval();
    StopeCutEval ratedSparse = new StopeCutEval();
    rated.buildEvaluator(table);
    ratedSparse.buildEvaluator(sparse);
    SupervisedDiscretize filter = new SupervisedDiscretize();
    filter.setOptions(new String[] {"-M", "best-cut"});
    filter.setInputFormat(table);
    Instances coded = Filter.useFilter(table, filter);
    filter.setInputFormat(sparse);
    Instances codedSparse = Filter.useFilter(sparse, filter);
    for (int i = 0; i < table.numInstances(); i++) {
      assertArrayEquals(one.distributionForInstance(table.instance(i)), two.distributionForInstance(sparse.instance(i)), 0);
      assertArrayEquals(coded.instance(i).toDoubleArray(), codedSparse.instance(i).toDoubleArray(), 0);
    }
    for (int a = 0; a + 1 < table.numAttributes(); a++) {
      assertEquals(rated.evaluateAttribute(a), ratedSparse.evaluateAttribute(a), 0);
    }
  }

  @Test
  void weightsOfAttributesPassTheFilter() throws Exception {
    Instances table = table(4);
    table.attribute(0).setWeight(3);
    double[] seen = new double[1];
    FilteredClassifier filtered = new FilteredClassifier();
    filtered.setFilter(new SupervisedDiscretize());
    filtered.setClassifier(new weka.classifiers.bayes.NaiveBayes() {
      private static final long serialVersionUID = 1L;

      @Override
      public void buildClassifier(Instances training) throws Exception {
        seen[0] = training.attribute(0).weight();
        super.buildClassifier(training);
      }
    });
    filtered.buildClassifier(table);
    assertEquals(3, seen[0]);
  }

  /** Two attributes of an older table, and rows of a later one that has more values. */
  private static Instances withAddedValues() {
    Instances later = new Instances("later",
        new ArrayList<>(Arrays.asList(new Attribute("x0"),
            new Attribute("c0", Arrays.asList("a", "b", "new", "newer", "newest")),
            new Attribute("y", Arrays.asList("u", "v", "w")))),
        30);
    later.setClassIndex(2);
    for (int i = 0; i < 30; i++) {
      later.add(new DenseInstance(1, new double[] {i * 0.1 - 1.5, 2 + i % 3, 0}));
    }
    return later;
  }

  private static Instances older() {
    Tables.Shape shape = new Tables.Shape();
    shape.numeric = 1;
    shape.nominal = 1;
    shape.missing = 0.3;
    Instances table = Tables.random(shape, 5);
    for (Instance row : table) {
      row.setClassValue(row.isMissing(1) ? 2 : 0); // So the tree splits missing values off.
    }
    return table;
  }

  @Test
  void aValueThatALaterHeaderHasAddedIsNoneOfTheOthers() throws Exception {
    Instances later = withAddedValues();
    StopeTree tree = new StopeTree();
    tree.buildClassifier(older());
    StopeIBk ours = (StopeIBk) IBkComparison.built(new StopeIBk(), "-K 3 -I", older());
    weka.classifiers.lazy.IBk theirs = IBkComparison.built(new weka.classifiers.lazy.IBk(), "-K 3 -I", older());
    double[][] found = ours.distributionsForInstances(later);
    for (int i = 0; i < later.numInstances(); i++) {
      assertEquals(0, tree.distributionForInstance(later.instance(i))[2], "the value is not missing");
      assertArrayEquals(theirs.distributionForInstance(later.instance(i)), found[i], IBkComparison.ROUNDING, "row " + i);
    }
  }

  @Test
  void anInstanceOfAnotherWidthIsRefusedByTheTree() throws Exception {
    StopeTree tree = new StopeTree();
    tree.buildClassifier(older());
    Instances narrow = older();
    narrow.deleteAttributeAt(0);
    Exception e = assertThrows(IllegalArgumentException.class, () -> tree.distributionForInstance(narrow.instance(0)));
    assertEquals("the instance has 2 attributes, and the tree was grown on 3: give it a table with the same header",
        e.getMessage());
  }

  @Test
  void aClassOfOneValueAndRowsWithoutAClassAreTaken() throws Exception {
    Instances table = table(6);
    for (int i = 0; i < table.numInstances(); i++) {
      if (i % 3 == 0) {
        table.instance(i).setClassMissing();
      } else {
        table.instance(i).setClassValue(2);
      }
    }
    StopeTree tree = new StopeTree();
    tree.buildClassifier(table);
    assertArrayEquals(new double[] {0, 0, 1}, tree.distributionForInstance(table.instance(0)), 0);
    StopeCutEval rated = new StopeCutEval();
    rated.buildEvaluator(table);
    assertEquals(0, rated.evaluateAttribute(0));
    SupervisedDiscretize filter = new SupervisedDiscretize();
    filter.setInputFormat(table);
    Instances coded = Filter.useFilter(table, filter);
    assertEquals("'All'", coded.attribute(0).value(0));
    assertTrue(coded.instance(0).classIsMissing());
  }

  @Test
  void anEmptyTableIsRefusedInWords() throws Exception {
    Instances none = new Instances(table(7), 0);
    for (Executable mistake : new Executable[] {
        () -> new StopeTree().buildClassifier(none), () -> new StopeCutEval().buildEvaluator(none)}) {
      assertTrue(assertThrows(Exception.class, mistake).getMessage().contains("Not enough training instances"));
    }
    SupervisedDiscretize filter = new SupervisedDiscretize();
    filter.setInputFormat(none);
    assertEquals("no instance has a class: there is nothing to learn from",
        assertThrows(Exception.class, () -> Filter.useFilter(none, filter)).getMessage());
  }

  @Test
  void baggingInSlotsPredictsAsInOne() throws Exception {
    Instances table = table(8);
    for (Classifier base : new Classifier[] {new StopeTree(), new StopeIBk(3)}) {
      double[][][] found = new double[2][][];
      for (int run = 0; run < 2; run++) {
        Bagging bagging = new Bagging();
        bagging.setClassifier(base);
        bagging.setNumExecutionSlots(run == 0 ? 1 : 4);
        bagging.buildClassifier(Tables.half(table, 0));
        found[run] = bagging.distributionsForInstances(Tables.half(table, 1));
      }
      for (int i = 0; i < found[0].length; i++) {
        // Bagging itself adds up in the order in which its slots end.
        assertArrayEquals(found[0][i], found[1][i], 1e-12, base.getClass() + ", row " + i);
      }
    }
  }

  @Test
  void foldsOfTheExperimenterRunSideBySide() throws Exception {
    Instances table = table(9);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    List<Future<Object>> correct = new ArrayList<>();
    for (int job = 0; job < 16; job++) {
      int fold = job % 8;
      Classifier classifier = job % 2 == 0 ? new StopeTree() : new StopeIBk(3);
      correct.add(threads.submit(() -> {
        ClassifierSplitEvaluator evaluator = new ClassifierSplitEvaluator();
        evaluator.setClassifier(classifier);
        Object[] result = evaluator.getResult(table.trainCV(8, fold), table.testCV(8, fold));
        return result[Arrays.asList(evaluator.getResultNames()).indexOf("Number_correct")];
      }));
    }
    for (int job = 0; job < 8; job++) {
      assertEquals(correct.get(job).get(), correct.get(job + 8).get());
    }
    threads.shutdown();
  }

  private static void assertInterrupted(Executable job) {
    Thread.currentThread().interrupt();
    Throwable e = assertThrows(Exception.class, job);
    assertTrue(Thread.interrupted(), "the interrupt was lost");
    assertTrue(e.getMessage().contains("interrupted"), e.toString());
  }

  @Test
  void anInterruptEndsEveryScheme() throws Exception {
    Instances table = table(10);
    assertInterrupted(() -> new StopeTree().buildClassifier(table));
    assertInterrupted(() -> new StopeCutEval().buildEvaluator(table));
    SupervisedDiscretize filter = new SupervisedDiscretize();
    filter.setInputFormat(table);
    assertInterrupted(() -> Filter.useFilter(table, filter));
  }

  @Test
  void anInterruptEndsSearchesWithoutAnIndexAndTheChoiceOfK() throws Exception {
    Instances table = table(11);
    StopeIBk scanning = (StopeIBk) IBkComparison.built(new StopeIBk(), "-K 118", table); // Almost all rows are neighbours.
    assertInterrupted(() -> scanning.distributionsForInstances(table));
    StopeIBk choosing = (StopeIBk) IBkComparison.built(new StopeIBk(), "-K 9 -X", table);
    assertInterrupted(() -> choosing.distributionForInstance(table.instance(0)));
    assertFalse(Thread.currentThread().isInterrupted());
    assertThrows(StopeException.class, () -> {
      Thread.currentThread().interrupt();
      try {
        scanning.distributionForInstance(table.instance(0));
      } finally {
        Thread.interrupted();
      }
    });
  }
}
