// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import weka.classifiers.Classifier;
import weka.classifiers.lazy.StopeIBk;
import weka.classifiers.trees.StopeTree;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.FilteredDistance;
import weka.core.Instances;
import weka.core.Utils;
import weka.core.neighboursearch.FilteredNeighbourSearch;
import weka.core.neighboursearch.LinearNNSearch;
import weka.core.neighboursearch.StopeSearch;
import weka.filters.Filter;
import weka.filters.supervised.attribute.SupervisedDiscretize;

/** What users are told when they do something that cannot be done. */
class MistakesTest {
  private static void says(String words, Executable mistake) {
    Exception e = assertThrows(Exception.class, mistake);
    assertTrue(e.getMessage() != null && e.getMessage().contains(words), e.toString());
    assertEquals(-1, e.getMessage().trim().indexOf('\n'), "more than one line: " + e.getMessage());
  }

  private static Instances withText() {
    ArrayList<Attribute> attributes = new ArrayList<>();
    attributes.add(new Attribute("text", (List<String>) null));
    attributes.add(new Attribute("y", Arrays.asList("u", "v")));
    Instances table = new Instances("texts", attributes, 1);
    table.setClassIndex(1);
    table.add(new DenseInstance(1, new double[] {table.attribute(0).addStringValue("hello"), 0}));
    return table;
  }

  private static Instances table() {
    return Tables.random(new Tables.Shape(), 1);
  }

  private static Instances withoutClass() {
    Instances table = table();
    table.setClassIndex(-1);
    return table;
  }

  private static Instances ofNumbers() {
    Tables.Shape shape = new Tables.Shape();
    shape.numericClass = true;
    return Tables.random(shape, 1);
  }

  private static Classifier with(Classifier classifier, String options) throws Exception {
    ((weka.core.OptionHandler) classifier).setOptions(Utils.splitOptions(options));
    return classifier;
  }

  private static Filter filter(String options, Instances table) throws Exception {
    SupervisedDiscretize filter = new SupervisedDiscretize();
    filter.setOptions(Utils.splitOptions(options));
    filter.setInputFormat(table);
    return filter;
  }

  @Test
  void aTableWithoutAClassIsRefused() {
    says("class", () -> new StopeIBk().buildClassifier(withoutClass()));
    says("class", () -> new StopeTree().buildClassifier(withoutClass()));
    says("Class attribute not set", () -> Filter.useFilter(withoutClass(), filter("", withoutClass())));
  }

  @Test
  void textsAreRefusedByClassifiers() {
    says("Cannot handle string attributes", () -> new StopeIBk().buildClassifier(withText()));
    says("Cannot handle string attributes", () -> new StopeTree().buildClassifier(withText()));
  }

  @Test
  void aClassOfNumbersIsRefusedWhereClassesAreNeeded() {
    says("Cannot handle numeric class", () -> new StopeTree().buildClassifier(ofNumbers()));
    says("Cannot handle numeric class", () -> Filter.useFilter(ofNumbers(), filter("", ofNumbers())));
  }

  @Test
  void aDistanceThatStopeDoesNotKnowIsRefused() throws Exception {
    String known = "take weka.core.EuclideanDistance, ManhattanDistance, ChebyshevDistance or MinkowskiDistance";
    says(known, () -> new StopeSearch().setDistanceFunction(new FilteredDistance()));
    LinearNNSearch search = new LinearNNSearch();
    search.setDistanceFunction(new FilteredDistance());
    says(known, () -> new StopeIBk().setNearestNeighbourSearchAlgorithm(search));
    says("filter the table first", () -> new StopeIBk().setNearestNeighbourSearchAlgorithm(new FilteredNeighbourSearch()));
    says("order of MinkowskiDistance is -1.0",
        () -> with(new StopeIBk(), IBkComparison.linear("weka.core.MinkowskiDistance -P -1")));
  }

  @Test
  void wrongNumbersAndWordsAreRefused() {
    says("-K is 0", () -> with(new StopeIBk(), "-K 0").buildClassifier(table()));
    says("-W is -3", () -> with(new StopeIBk(), "-W -3").buildClassifier(table()));
    says("-threads is 'many'", () -> with(new StopeIBk(), "-A \"weka.core.neighboursearch.StopeSearch -threads many\""));
    says("-threads is -2", () -> new StopeSearch().setThreads(-2));
    says("-depth is '2.5', and a whole number is needed", () -> with(new StopeTree(), "-depth 2.5"));
    says("one of discernibility, gini, entropy", () -> with(new StopeTree(), "-criterion GINI"));
    says("one of mdlp, md-local", () -> filter("-M mdl", table()));
    says("-M is 0: at least 1 is needed", () -> with(new StopeTree(), "-M 0"));
    says("-B is 0: at least 1 is needed", () -> filter("-M equal-width -B 0", table()));
    says("-R is 'first-x', and the table has 7 attributes", () -> Filter.useFilter(table(), filter("-R first-x", table())));
    says("-R is '9'", () -> Filter.useFilter(table(), filter("-R 9", table())));
  }

  @Test
  void aDeviceThatIsNotThereIsNamed() throws Exception {
    says("tpu", () -> with(new StopeIBk(), "-A \"weka.core.neighboursearch.StopeSearch -device tpu\"").buildClassifier(table()));
    says("tpu", () -> with(new StopeTree(), "-device tpu").buildClassifier(table()));
    says("lots", () -> with(new StopeTree(), "-memory lots").buildClassifier(table()));
  }

  @Test
  void aClassifierThatWasNotBuiltSaysSo() {
    says("buildClassifier first", () -> new StopeTree().distributionForInstance(table().instance(0)));
    says("buildClassifier first", () -> new StopeIBk().distributionForInstance(table().instance(0)));
    says("buildClassifier first", () -> new StopeIBk().distributionsForInstances(table()));
    says("setInstances first", () -> new StopeSearch().kNearestNeighbours(table().instance(0), 1));
    says("kNearestNeighbours first", () -> new StopeSearch().getDistances());
  }

  @Test
  void aTableWhoseClassIsMissingThroughoutIsRefused() {
    Instances table = table();
    for (int i = 0; i < table.numInstances(); i++) {
      table.instance(i).setClassMissing();
    }
    says("class", () -> new StopeTree().buildClassifier(table));
  }

  @Test
  void missingValuesAreRefusedIfTheUserWantsSo() throws Exception {
    Tables.Shape shape = new Tables.Shape();
    shape.missing = 0.1;
    Instances table = Tables.random(shape, 1);
    table.renameAttribute(0, "height\u0001\n\ud800");
    says("height", () -> with(new StopeTree(), "-missing error").buildClassifier(table));
    says("missing", () -> with(new StopeTree(), "-missing error").buildClassifier(table));
    says("height", () -> Filter.useFilter(table, filter("-M md-global -missing error", table)));
  }
}
