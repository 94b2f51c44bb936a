// SPDX-License-Identifier: GPL-3.0-or-later
package weka.filters.supervised.attribute;

import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import org.stope.Discretizer;
import org.stope.Options;
import org.stope.Run;
import org.stope.Table;
import org.stope.weka.ChoiceOption;
import org.stope.weka.Choices;
import org.stope.weka.CutPoints;
import org.stope.weka.EngineOptions;
import org.stope.weka.EngineTable;
import org.stope.weka.OptionValues;
import org.stope.weka.SchemeOption;
import org.stope.weka.SchemeOptions;
import weka.core.Capabilities.Capability;
import weka.core.Capabilities;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Option;
import weka.core.Range;
import weka.core.SelectedTag;
import weka.core.Tag;
import weka.core.Utils;
import weka.core.WeightedAttributesHandler;
import weka.core.WeightedInstancesHandler;
import weka.filters.SimpleBatchFilter;
import weka.filters.SupervisedFilter;

/**
 * Cuts numeric attributes into intervals that keep the classes apart, by stope. The first batch decides the cuts. Nominal
 * attributes in the range take part in the methods that look at all attributes together, and stay as they are.
 */
public class SupervisedDiscretize extends SimpleBatchFilter
    implements SupervisedFilter, WeightedInstancesHandler, WeightedAttributesHandler {
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

  private static final SchemeOptions OPTIONS = new SchemeOptions();
  private static final ChoiceOption METHOD = OPTIONS.choice("M", TAGS_METHOD, "How cuts are found");
  private static final SchemeOption<String> ATTRIBUTES = OPTIONS.text("R", "<range>", "first-last",
      "Attributes to cut, as first-3,5,last; the class is never cut");
  private static final SchemeOption<Boolean> INVERT = OPTIONS.flag("V", "Cut the attributes that -R does not name");
  private static final SchemeOption<Integer> BINS =
      OPTIONS.whole("B", 5, 1, "equal-width, equal-frequency: bins, at most");
  private static final SchemeOption<Integer> MAX_CUTS =
      OPTIONS.whole("max-cuts", 0, 0, "md-global: cuts, at most; 0 is as many as are needed");
  private static final SchemeOption<Double> CONFIDENCE =
      OPTIONS.number("C", 0.9, "chimerge: level at which neighbouring intervals differ, and stay apart");
  private static final SchemeOption<Integer> MIN_INTERVALS =
      OPTIONS.whole("N", 3, 1, "chimerge: intervals, at least");
  private static final ChoiceOption MISSING = OPTIONS.choice("missing", Choices.MISSING,
      "What a missing value means while md-local, md-global or best-cut find cuts");

  private final OptionValues own = new OptionValues();
  private CutPoints cuts;

  @Override
  public String globalInfo() {
    return "Cuts numeric attributes into intervals that keep the classes apart: by Fayyad and Irani's MDL, as WEKA's own"
        + " supervised Discretize, by maximal discernibility, ChiMerge, or the best cut of each attribute. Computed by"
        + " stope, on all cores or on a GPU.";
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

  public String methodTipText() {
    return METHOD.tip();
  }

  public SelectedTag getMethod() {
    return own.tag(METHOD);
  }

  public void setMethod(SelectedTag chosen) {
    own.set(METHOD, chosen);
  }

  public String missingTipText() {
    return MISSING.tip();
  }

  public SelectedTag getMissing() {
    return own.tag(MISSING);
  }

  public void setMissing(SelectedTag chosen) {
    own.set(MISSING, chosen);
  }

  public String attributeIndicesTipText() {
    return ATTRIBUTES.tip();
  }

  public String getAttributeIndices() {
    return own.get(ATTRIBUTES);
  }

  public void setAttributeIndices(String attributeIndices) {
    own.set(ATTRIBUTES, attributeIndices);
  }

  public String invertSelectionTipText() {
    return INVERT.tip();
  }

  public boolean getInvertSelection() {
    return own.get(INVERT);
  }

  public void setInvertSelection(boolean invertSelection) {
    own.set(INVERT, invertSelection);
  }

  public String binsTipText() {
    return BINS.tip();
  }

  public int getBins() {
    return own.get(BINS);
  }

  public void setBins(int bins) {
    own.set(BINS, bins);
  }

  public String maxCutsTipText() {
    return MAX_CUTS.tip();
  }

  public int getMaxCuts() {
    return own.get(MAX_CUTS);
  }

  public void setMaxCuts(int maxCuts) {
    own.set(MAX_CUTS, maxCuts);
  }

  public String confidenceTipText() {
    return CONFIDENCE.tip();
  }

  public double getConfidence() {
    return own.get(CONFIDENCE);
  }

  public void setConfidence(double confidence) {
    own.set(CONFIDENCE, confidence);
  }

  public String minIntervalsTipText() {
    return MIN_INTERVALS.tip();
  }

  public int getMinIntervals() {
    return own.get(MIN_INTERVALS);
  }

  public void setMinIntervals(int minIntervals) {
    own.set(MIN_INTERVALS, minIntervals);
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
    Range chosen = chosen(training.numAttributes());
    List<Integer> features = new ArrayList<>();
    for (int a = 0; a < training.numAttributes(); a++) {
      boolean known = training.attribute(a).isNumeric() || training.attribute(a).isNominal();
      if (a != training.classIndex() && chosen.isInRange(a) && known) {
        features.add(a);
      }
    }
    cuts = new CutPoints(training, features);
    if (!features.isEmpty()) {
      try (Run run = EngineOptions.newRun(own);
          Table table = EngineTable.of(training, features);
          Table found = found(table, run)) {
        cuts.addAll(found);
      }
    }
    return cuts.outputFormat();
  }

  private Range chosen(int attributes) {
    Range chosen = new Range(own.get(ATTRIBUTES));
    chosen.setInvert(own.get(INVERT));
    try {
      chosen.setUpper(attributes - 1); // Only now WEKA reads the words.
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("-R is '" + own.get(ATTRIBUTES) + "', and the table has " + attributes
          + " attributes: give a list as first-3,5,last", e);
    }
    return chosen;
  }

  private Table found(Table table, Run run) {
    String name = own.get(METHOD);
    Options options = Options.of("missing", own.get(MISSING));
    if (name.equals("best-cut")) {
      return Discretizer.bestCuts(table, options, run);
    }
    options.set("method", name);
    if (name.startsWith("equal-")) {
      options.set("n_bins", own.get(BINS));
    } else if (name.equals("md-global")) {
      options.set("max_cuts", own.get(MAX_CUTS));
    } else if (name.equals("chimerge")) {
      options.set("confidence", own.get(CONFIDENCE)).set("min_intervals", own.get(MIN_INTERVALS));
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
