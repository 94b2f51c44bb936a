// SPDX-License-Identifier: GPL-3.0-or-later
package weka.attributeSelection;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Vector;
import org.stope.Discretizer;
import org.stope.Options;
import org.stope.Run;
import org.stope.Table;
import org.stope.weka.EngineOptions;
import org.stope.weka.EngineTable;
import org.stope.weka.OptionWords;
import weka.core.Capabilities;
import weka.core.Capabilities.Capability;
import weka.core.Instances;
import weka.core.Option;
import weka.core.OptionHandler;
import weka.core.SelectedTag;
import weka.core.Tag;
import weka.core.Utils;

/**
 * Rates attributes by their best cut: by the share of the pairs of instances of different classes that it separates, or
 * by its gain. Numbers are cut at a threshold, nominal values into one value and the others.
 */
public class StopeCutEval extends ASEvaluation implements AttributeEvaluator, OptionHandler {
  private static final long serialVersionUID = 1L;

  /** What a cut is worth. */
  public static final Tag[] TAGS_CRITERION = {
    new Tag(0, "discernibility", "share of the pairs of different classes that it separates", false),
    new Tag(1, "gini", "decrease of the Gini impurity", false),
    new Tag(2, "entropy", "information gain", false),
  };

  private int criterion;
  private final EngineOptions engine = new EngineOptions();
  private double[] merits;

  /** Describes the evaluator. */
  public String globalInfo() {
    return "Rates attributes by their best cut: by the share of the pairs of instances of different classes that it"
        + " separates, or by its gain. A missing value is a value of its own. Computed by stope, on all cores or on a GPU.";
  }

  @Override
  public Enumeration<Option> listOptions() {
    Vector<Option> all = new Vector<>();
    all.add(new Option("\tWhat a cut is worth: discernibility, gini, entropy (default: discernibility).", "criterion", 1,
        "-criterion <name>"));
    all.addAll(EngineOptions.list());
    all.addAll(Collections.list(super.listOptions()));
    return all.elements();
  }

  @Override
  public void setOptions(String[] options) throws Exception {
    criterion = OptionWords.takeTag("criterion", TAGS_CRITERION, options);
    engine.take(options);
    super.setOptions(options);
    Utils.checkForRemainingOptions(options);
  }

  @Override
  public String[] getOptions() {
    List<String> words = new ArrayList<>();
    OptionWords.write(words, "criterion", TAGS_CRITERION[criterion].getIDStr(), "discernibility");
    words.addAll(engine.written());
    Collections.addAll(words, super.getOptions());
    return words.toArray(new String[0]);
  }

  /** Says what the option is for. */
  public String criterionTipText() {
    return "What a cut is worth.";
  }

  /** Gives the option. */
  public SelectedTag getCriterion() {
    return new SelectedTag(criterion, TAGS_CRITERION);
  }

  /** Sets the option. */
  public void setCriterion(SelectedTag chosen) {
    if (chosen.getTags() == TAGS_CRITERION) {
      criterion = chosen.getSelectedTag().getID();
    }
  }

  /** Says what the option is for. */
  public String deviceTipText() {
    return "Where stope computes: auto, cpu, cuda or cuda:0,1. Results are the same everywhere.";
  }

  /** Gives the option. */
  public String getDevice() {
    return engine.device();
  }

  /** Sets the option. */
  public void setDevice(String device) {
    engine.setDevice(device);
  }

  /** Says what the option is for. */
  public String threadsTipText() {
    return "CPU threads of stope; 0 is all.";
  }

  /** Gives the option. */
  public int getThreads() {
    return engine.threads();
  }

  /** Sets the option. */
  public void setThreads(int threads) {
    engine.setThreads(threads);
  }

  /** Says what the option is for. */
  public String memoryLimitTipText() {
    return "Memory that stope may take, as 2GB; empty: 80 % of what is free.";
  }

  /** Gives the option. */
  public String getMemoryLimit() {
    return engine.memoryLimit();
  }

  /** Sets the option. */
  public void setMemoryLimit(String memoryLimit) {
    engine.setMemoryLimit(memoryLimit);
  }

  @Override
  public Capabilities getCapabilities() {
    Capabilities can = super.getCapabilities();
    can.disableAll();
    can.enable(Capability.NOMINAL_ATTRIBUTES);
    can.enable(Capability.NUMERIC_ATTRIBUTES);
    can.enable(Capability.DATE_ATTRIBUTES);
    can.enable(Capability.MISSING_VALUES);
    can.enable(Capability.NOMINAL_CLASS);
    can.enable(Capability.MISSING_CLASS_VALUES);
    return can;
  }

  @Override
  public void buildEvaluator(Instances training) throws Exception {
    merits = null;
    getCapabilities().testWithFail(training);
    List<Integer> features = new ArrayList<>();
    for (int a = 0; a < training.numAttributes(); a++) {
      if (a != training.classIndex()) {
        features.add(a);
      }
    }
    double[] found = new double[training.numAttributes()];
    double unit = criterion == 0 ? pairs(training) : 1;
    Options options = Options.of("criterion", TAGS_CRITERION[criterion].getIDStr(), "missing", "value");
    try (Run run = engine.newRun();
        Table table = EngineTable.of(training, features);
        Table best = Discretizer.bestCuts(table, options, run)) {
      double[] scores = best.column("score");
      for (int row = 0; row < scores.length; row++) {
        int a = Integer.parseInt(best.text(row, best.indexOf("name")));
        found[a] = Double.isNaN(scores[row]) || unit == 0 ? 0 : scores[row] / unit;
      }
    }
    merits = found;
  }

  /** The weight of all pairs of instances of different classes. */
  private static double pairs(Instances training) {
    double[] weights = new double[training.numClasses()];
    for (int i = 0; i < training.numInstances(); i++) {
      if (!training.instance(i).classIsMissing()) {
        weights[(int) training.instance(i).classValue()] += training.instance(i).weight();
      }
    }
    double sum = Utils.sum(weights);
    double squares = 0;
    for (double weight : weights) {
      squares += weight * weight;
    }
    return (sum * sum - squares) / 2;
  }

  @Override
  public double evaluateAttribute(int attribute) throws Exception {
    if (merits == null) {
      throw new IllegalStateException("the evaluator has not been built: call buildEvaluator first");
    }
    return merits[attribute];
  }

  @Override
  public String toString() {
    return merits == null ? "StopeCutEval has not been built yet"
        : "\tBest cut of each attribute (stope), by " + TAGS_CRITERION[criterion].getIDStr() + "\n";
  }

  @Override
  public String getRevision() {
    return "stope";
  }
}
