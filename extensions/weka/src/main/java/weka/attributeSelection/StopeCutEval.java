// SPDX-License-Identifier: GPL-3.0-or-later
package weka.attributeSelection;

import java.util.Enumeration;
import org.stope.Discretizer;
import org.stope.Options;
import org.stope.Run;
import org.stope.Table;
import org.stope.weka.ChoiceOption;
import org.stope.weka.Choices;
import org.stope.weka.EngineOptions;
import org.stope.weka.EngineTable;
import org.stope.weka.OptionValues;
import org.stope.weka.SchemeOptions;
import weka.core.Capabilities;
import weka.core.Instances;
import weka.core.Option;
import weka.core.OptionHandler;
import weka.core.SelectedTag;
import weka.core.Utils;

/**
 * Rates attributes by their best cut: by the share of the pairs of instances of different classes that it separates, or
 * by its gain. Numbers are cut at a threshold, nominal values into one value and the others.
 */
public class StopeCutEval extends ASEvaluation implements AttributeEvaluator, OptionHandler {
  private static final long serialVersionUID = 1L;

  private static final SchemeOptions OPTIONS = new SchemeOptions();
  private static final ChoiceOption CRITERION = OPTIONS.choice("criterion", Choices.CRITERIA, "What a cut is worth");

  private final OptionValues own = new OptionValues();
  private double[] merits;

  /** Describes the evaluator. */
  public String globalInfo() {
    return "Rates attributes by their best cut: by the share of the pairs of instances of different classes that it"
        + " separates, or by its gain. A missing value is a value of its own. Computed by stope, on all cores or on a GPU.";
  }

  @Override
  public Enumeration<Option> listOptions() {
    return OPTIONS.listed(super.listOptions());
  }

  @Override
  public void setOptions(String[] options) throws Exception {
    OPTIONS.take(options, own);
    super.setOptions(options);
    Utils.checkForRemainingOptions(options);
  }

  @Override
  public String[] getOptions() {
    return OPTIONS.written(own, super.getOptions());
  }

  // WEKA's editors find an option by three methods of its name.

  public String criterionTipText() {
    return CRITERION.tip();
  }

  public SelectedTag getCriterion() {
    return own.tag(CRITERION);
  }

  public void setCriterion(SelectedTag chosen) {
    own.set(CRITERION, chosen);
  }

  public String deviceTipText() {
    return EngineOptions.DEVICE.tip();
  }

  public String getDevice() {
    return own.get(EngineOptions.DEVICE);
  }

  public void setDevice(String device) {
    own.set(EngineOptions.DEVICE, device);
  }

  public String threadsTipText() {
    return EngineOptions.THREADS.tip();
  }

  public int getThreads() {
    return own.get(EngineOptions.THREADS);
  }

  public void setThreads(int threads) {
    own.set(EngineOptions.THREADS, threads);
  }

  public String memoryLimitTipText() {
    return EngineOptions.MEMORY.tip();
  }

  public String getMemoryLimit() {
    return own.get(EngineOptions.MEMORY);
  }

  public void setMemoryLimit(String limit) {
    own.set(EngineOptions.MEMORY, limit);
  }

  @Override
  public Capabilities getCapabilities() {
    return EngineTable.capabilities(super.getCapabilities());
  }

  @Override
  public void buildEvaluator(Instances training) throws Exception {
    merits = null;
    getCapabilities().testWithFail(training);
    double[] found = new double[training.numAttributes()];
    double unit = own.get(CRITERION).equals("discernibility") ? pairs(training) : 1;
    Options options = Options.of("criterion", own.get(CRITERION), "missing", "value");
    try (Run run = EngineOptions.newRun(own);
        Table table = EngineTable.of(training, EngineTable.features(training));
        Table best = Discretizer.bestCuts(table, options, run)) {
      double[] scores = best.column("score");
      for (int row = 0; row < scores.length; row++) {
        int a = EngineTable.attribute(best.text(row, best.indexOf("name")));
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
        : "\tBest cut of each attribute (stope), by " + own.get(CRITERION) + "\n";
  }

  @Override
  public String getRevision() {
    return "stope";
  }
}
