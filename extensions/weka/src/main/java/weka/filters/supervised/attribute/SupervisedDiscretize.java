// SPDX-License-Identifier: GPL-3.0-or-later
package weka.filters.supervised.attribute;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Vector;
import org.stope.Discretizer;
import org.stope.Options;
import org.stope.Run;
import org.stope.Table;
import org.stope.weka.CutPoints;
import org.stope.weka.EngineOptions;
import org.stope.weka.EngineTable;
import org.stope.weka.OptionWords;
import weka.core.Capabilities;
import weka.core.Capabilities.Capability;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Option;
import weka.core.Range;
import weka.core.SelectedTag;
import weka.core.Tag;
import weka.core.Utils;
import weka.core.WeightedInstancesHandler;
import weka.filters.SimpleBatchFilter;
import weka.filters.SupervisedFilter;

/**
 * Cuts numeric attributes into intervals that keep the classes apart, by stope. The first batch decides the cuts. Nominal
 * attributes in the range take part in the methods that look at all attributes together, and stay as they are.
 */
public class SupervisedDiscretize extends SimpleBatchFilter implements SupervisedFilter, WeightedInstancesHandler {
  private static final long serialVersionUID = 1L;

  /** How cuts are found. */
  public static final Tag[] TAGS_METHOD = {
    new Tag(0, "mdlp", "Fayyad and Irani's MDL", false),
    new Tag(1, "md-local", "the cuts of a local discretisation tree", false),
    new Tag(2, "md-global", "one list of cuts that separates all pairs of different classes", false),
    new Tag(3, "best-cut", "the best cut of each attribute", false),
    new Tag(4, "chimerge", "Kerber's ChiMerge", false),
    new Tag(5, "equal-width", "bins of equal width", false),
    new Tag(6, "equal-frequency", "bins of equally many instances", false),
  };

  /** What a missing value means when cuts are found. */
  public static final Tag[] TAGS_MISSING = {
    new Tag(0, "value", "a value of its own, below all numbers", false),
    new Tag(1, "fill", "the mean or the most frequent value", false),
    new Tag(2, "drop", "the instance is left out", false),
    new Tag(3, "error", "refused", false),
  };

  private int method;
  private int missing;
  private String attributeIndices = "first-last";
  private boolean invertSelection;
  private int bins = 5;
  private int maxCuts;
  private double confidence = 0.9;
  private int minIntervals = 3;
  private final EngineOptions engine = new EngineOptions();
  private CutPoints cuts;

  @Override
  public String globalInfo() {
    return "Cuts numeric attributes into intervals that keep the classes apart: by Fayyad and Irani's MDL, as WEKA's own"
        + " supervised Discretize, by maximal discernibility, ChiMerge, or the best cut of each attribute. Computed by"
        + " stope, on all cores or on a GPU.";
  }

  @Override
  public Enumeration<Option> listOptions() {
    Vector<Option> all = new Vector<>();
    all.add(new Option("\tHow cuts are found: mdlp, md-local, md-global, best-cut, chimerge, equal-width,"
        + " equal-frequency (default: mdlp).", "M", 1, "-M <name>"));
    all.add(new Option("\tAttributes to cut; the class is never cut (default: first-last).", "R", 1, "-R <range>"));
    all.add(new Option("\tCut the attributes that -R does not name.", "V", 0, "-V"));
    all.add(new Option("\tequal-width, equal-frequency: bins, at most (default: 5).", "B", 1, "-B <number>"));
    all.add(new Option("\tmd-global: cuts, at most; 0 is as many as are needed (default: 0).", "max-cuts", 1,
        "-max-cuts <number>"));
    all.add(new Option("\tchimerge: level at which neighbours differ (default: 0.9).", "C", 1, "-C <level>"));
    all.add(new Option("\tchimerge: intervals, at least (default: 3).", "N", 1, "-N <number>"));
    all.add(new Option("\tmd-local, md-global, best-cut: what a missing value means: value, fill, drop, error (default:"
        + " value).", "missing", 1, "-missing <name>"));
    all.addAll(EngineOptions.list());
    all.addAll(Collections.list(super.listOptions()));
    return all.elements();
  }

  @Override
  public void setOptions(String[] options) throws Exception {
    method = OptionWords.takeTag("M", TAGS_METHOD, options);
    String range = Utils.getOption('R', options);
    setAttributeIndices(range.isEmpty() ? "first-last" : range);
    invertSelection = Utils.getFlag('V', options);
    bins = OptionWords.takeWhole("B", 5, options);
    maxCuts = OptionWords.takeWhole("max-cuts", 0, options);
    confidence = OptionWords.takeNumber("C", 0.9, options);
    minIntervals = OptionWords.takeWhole("N", 3, options);
    missing = OptionWords.takeTag("missing", TAGS_MISSING, options);
    engine.take(options);
    super.setOptions(options);
    Utils.checkForRemainingOptions(options);
  }

  @Override
  public String[] getOptions() {
    List<String> words = new ArrayList<>();
    OptionWords.write(words, "M", TAGS_METHOD[method].getIDStr(), "mdlp");
    OptionWords.write(words, "R", attributeIndices, "first-last");
    if (invertSelection) {
      words.add("-V");
    }
    OptionWords.write(words, "B", bins, 5);
    OptionWords.write(words, "max-cuts", maxCuts, 0);
    OptionWords.write(words, "C", confidence, 0.9);
    OptionWords.write(words, "N", minIntervals, 3);
    OptionWords.write(words, "missing", TAGS_MISSING[missing].getIDStr(), "value");
    words.addAll(engine.written());
    Collections.addAll(words, super.getOptions());
    return words.toArray(new String[0]);
  }

  /** Says what the option is for. */
  public String methodTipText() {
    return "How cuts are found.";
  }

  /** Gives the option. */
  public SelectedTag getMethod() {
    return new SelectedTag(method, TAGS_METHOD);
  }

  /** Sets the option. */
  public void setMethod(SelectedTag chosen) {
    if (chosen.getTags() == TAGS_METHOD) {
      method = chosen.getSelectedTag().getID();
    }
  }

  /** Says what the option is for. */
  public String missingTipText() {
    return "md-local, md-global, best-cut: what a missing value means when cuts are found. It stays missing.";
  }

  /** Gives the option. */
  public SelectedTag getMissing() {
    return new SelectedTag(missing, TAGS_MISSING);
  }

  /** Sets the option. */
  public void setMissing(SelectedTag chosen) {
    if (chosen.getTags() == TAGS_MISSING) {
      missing = chosen.getSelectedTag().getID();
    }
  }

  /** Says what the option is for. */
  public String attributeIndicesTipText() {
    return "Attributes to cut, as first-3,5,last. The class is never cut.";
  }

  /** Gives the option. */
  public String getAttributeIndices() {
    return attributeIndices;
  }

  /** Sets the option. */
  public void setAttributeIndices(String range) {
    new Range(range); // Refuses what is no range.
    attributeIndices = range;
  }

  /** Says what the option is for. */
  public String invertSelectionTipText() {
    return "Whether the attributes that the range does not name are cut.";
  }

  /** Gives the option. */
  public boolean getInvertSelection() {
    return invertSelection;
  }

  /** Sets the option. */
  public void setInvertSelection(boolean invertSelection) {
    this.invertSelection = invertSelection;
  }

  /** Says what the option is for. */
  public String binsTipText() {
    return "equal-width, equal-frequency: bins, at most.";
  }

  /** Gives the option. */
  public int getBins() {
    return bins;
  }

  /** Sets the option. */
  public void setBins(int bins) {
    this.bins = bins;
  }

  /** Says what the option is for. */
  public String maxCutsTipText() {
    return "md-global: cuts, at most; 0 is as many as are needed.";
  }

  /** Gives the option. */
  public int getMaxCuts() {
    return maxCuts;
  }

  /** Sets the option. */
  public void setMaxCuts(int maxCuts) {
    this.maxCuts = maxCuts;
  }

  /** Says what the option is for. */
  public String confidenceTipText() {
    return "chimerge: level at which neighbouring intervals differ, and stay apart.";
  }

  /** Gives the option. */
  public double getConfidence() {
    return confidence;
  }

  /** Sets the option. */
  public void setConfidence(double confidence) {
    this.confidence = confidence;
  }

  /** Says what the option is for. */
  public String minIntervalsTipText() {
    return "chimerge: intervals, at least.";
  }

  /** Gives the option. */
  public int getMinIntervals() {
    return minIntervals;
  }

  /** Sets the option. */
  public void setMinIntervals(int minIntervals) {
    this.minIntervals = minIntervals;
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
    can.enableAllAttributes(); // Those that are not cut are passed on.
    can.enable(Capability.MISSING_VALUES);
    can.enable(Capability.NOMINAL_CLASS);
    can.enable(Capability.MISSING_CLASS_VALUES);
    return can;
  }

  @Override
  public boolean allowAccessToFullInputFormat() {
    return true; // The output format depends on the cuts, and these on the instances.
  }

  @Override
  protected void reset() {
    super.reset();
    cuts = null;
  }

  @Override
  protected Instances determineOutputFormat(Instances training) throws Exception {
    Range chosen = new Range(attributeIndices);
    chosen.setInvert(invertSelection);
    chosen.setUpper(training.numAttributes() - 1);
    List<Integer> features = new ArrayList<>();
    for (int a = 0; a < training.numAttributes(); a++) {
      boolean known = training.attribute(a).isNumeric() || training.attribute(a).isNominal();
      if (a != training.classIndex() && chosen.isInRange(a) && known) {
        features.add(a);
      }
    }
    cuts = new CutPoints(training, features);
    if (!features.isEmpty()) {
      try (Run run = engine.newRun(); Table table = EngineTable.of(training, features); Table found = found(table, run)) {
        cuts.addAll(found);
      }
    }
    return cuts.outputFormat();
  }

  private Table found(Table table, Run run) {
    String name = TAGS_METHOD[method].getIDStr();
    Options options = Options.of("missing", TAGS_MISSING[missing].getIDStr());
    if (name.equals("best-cut")) {
      return Discretizer.bestCuts(table, options, run);
    }
    options.set("method", name);
    if (name.startsWith("equal-")) {
      options.set("n_bins", bins);
    } else if (name.equals("md-global")) {
      options.set("max_cuts", maxCuts);
    } else if (name.equals("chimerge")) {
      options.set("confidence", confidence).set("min_intervals", minIntervals);
    }
    return Discretizer.findCuts(table, options, run);
  }

  @Override
  protected Instances process(Instances rows) throws Exception {
    Instances coded = new Instances(getOutputFormat(), rows.numInstances());
    for (Instance row : rows) {
      Instance to = cuts.coded(row);
      copyValues(to, false, rows, coded);
      coded.add(to);
    }
    return coded;
  }

  /** Gives the cuts of an attribute, ascending, or null if it is not cut or no batch has come yet. */
  public double[] getCutPoints(int attribute) {
    return cuts == null ? null : cuts.of(attribute);
  }

  @Override
  public String getRevision() {
    return "stope";
  }

  /** Runs the filter with WEKA's command line options. */
  public static void main(String[] arguments) {
    runFilter(new SupervisedDiscretize(), arguments);
  }
}
