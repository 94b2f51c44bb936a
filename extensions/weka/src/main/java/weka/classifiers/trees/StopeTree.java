// SPDX-License-Identifier: GPL-3.0-or-later
package weka.classifiers.trees;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.Vector;
import org.stope.Options;
import org.stope.Run;
import org.stope.Table;
import org.stope.Tree;
import org.stope.weka.EngineOptions;
import org.stope.weka.EngineTable;
import org.stope.weka.OptionWords;
import org.stope.weka.PlainTree;
import weka.classifiers.AbstractClassifier;
import weka.core.AdditionalMeasureProducer;
import weka.core.Capabilities;
import weka.core.Capabilities.Capability;
import weka.core.Drawable;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Option;
import weka.core.SelectedTag;
import weka.core.Tag;
import weka.core.Utils;
import weka.core.WeightedInstancesHandler;

/**
 * A local discretisation tree of stope: a binary tree whose splits separate the most pairs of instances of different
 * classes. A built tree needs no engine. Several threads may predict at once.
 */
public class StopeTree extends AbstractClassifier
    implements Drawable, WeightedInstancesHandler, AdditionalMeasureProducer {
  private static final long serialVersionUID = 1L;

  /** What a split is worth. */
  public static final Tag[] TAGS_CRITERION = {
    new Tag(0, "discernibility", "pairs of different classes that it separates", false),
    new Tag(1, "gini", "decrease of the Gini impurity", false),
    new Tag(2, "entropy", "information gain", false),
  };

  /** What a missing value means. */
  public static final Tag[] TAGS_MISSING = {
    new Tag(0, "value", "a value of its own, below all numbers", false),
    new Tag(1, "fill", "the mean or the most frequent value", false),
    new Tag(2, "drop", "the instance is left out, and is not classified", false),
    new Tag(3, "error", "refused", false),
  };

  private int criterion;
  private int missing;
  private int maxDepth = -1;
  private int minSamplesLeaf = 1;
  private double minScore;
  private boolean balanced;
  private double ccpAlpha;
  private double pruneHoldout;
  private int seed;
  private final EngineOptions engine = new EngineOptions();
  private PlainTree tree;

  /** Describes the classifier. */
  public String globalInfo() {
    return "Local discretisation tree: a binary tree whose splits separate the most pairs of instances of different"
        + " classes. Numbers are split by a cut, nominal values by one value against the others. Computed by stope, on"
        + " all cores or on a GPU.";
  }

  @Override
  public Enumeration<Option> listOptions() {
    Vector<Option> all = new Vector<>();
    all.add(new Option("\tWhat a split is worth: discernibility, gini, entropy (default: discernibility).", "criterion", 1,
        "-criterion <name>"));
    all.add(new Option("\tWhat a missing value means: value, fill, drop, error (default: value).", "missing", 1,
        "-missing <name>"));
    all.add(new Option("\tDepth at most; the root has 0; -1 is any (default: -1).", "depth", 1, "-depth <number>"));
    all.add(new Option("\tInstances of a leaf, at least (default: 1).", "M", 1, "-M <number>"));
    all.add(new Option("\tWhat a split must be worth (default: 0).", "min-score", 1, "-min-score <number>"));
    all.add(new Option("\tAll classes weigh the same.", "balanced", 0, "-balanced"));
    all.add(new Option("\tCost-complexity pruning: what a leaf costs, as a share of the instances (default: 0).",
        "ccp-alpha", 1, "-ccp-alpha <number>"));
    all.add(new Option("\tReduced-error pruning: the share of the instances that prunes (default: 0).", "prune-holdout", 1,
        "-prune-holdout <share>"));
    all.add(new Option("\tSeed of the choice of these instances (default: 0).", "S", 1, "-S <number>"));
    all.addAll(EngineOptions.list());
    all.addAll(Collections.list(super.listOptions()));
    return all.elements();
  }

  @Override
  public void setOptions(String[] options) throws Exception {
    criterion = OptionWords.takeTag("criterion", TAGS_CRITERION, options);
    missing = OptionWords.takeTag("missing", TAGS_MISSING, options);
    maxDepth = OptionWords.takeWhole("depth", -1, options);
    minSamplesLeaf = OptionWords.takeWhole("M", 1, options);
    minScore = OptionWords.takeNumber("min-score", 0, options);
    balanced = Utils.getFlag("balanced", options);
    ccpAlpha = OptionWords.takeNumber("ccp-alpha", 0, options);
    pruneHoldout = OptionWords.takeNumber("prune-holdout", 0, options);
    seed = OptionWords.takeWhole("S", 0, options);
    engine.take(options);
    super.setOptions(options);
    Utils.checkForRemainingOptions(options);
  }

  @Override
  public String[] getOptions() {
    List<String> words = new ArrayList<>();
    OptionWords.write(words, "criterion", TAGS_CRITERION[criterion].getIDStr(), "discernibility");
    OptionWords.write(words, "missing", TAGS_MISSING[missing].getIDStr(), "value");
    OptionWords.write(words, "depth", maxDepth, -1);
    OptionWords.write(words, "M", minSamplesLeaf, 1);
    OptionWords.write(words, "min-score", minScore, 0.0);
    if (balanced) {
      words.add("-balanced");
    }
    OptionWords.write(words, "ccp-alpha", ccpAlpha, 0.0);
    OptionWords.write(words, "prune-holdout", pruneHoldout, 0.0);
    OptionWords.write(words, "S", seed, 0);
    words.addAll(engine.written());
    Collections.addAll(words, super.getOptions());
    return words.toArray(new String[0]);
  }

  /** Says what the option is for. */
  public String criterionTipText() {
    return "What a split is worth.";
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
  public String missingTipText() {
    return "What a missing value means.";
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
  public String maxDepthTipText() {
    return "Depth at most; the root has 0; -1 is any.";
  }

  /** Gives the option. */
  public int getMaxDepth() {
    return maxDepth;
  }

  /** Sets the option. */
  public void setMaxDepth(int maxDepth) {
    this.maxDepth = maxDepth;
  }

  /** Says what the option is for. */
  public String minSamplesLeafTipText() {
    return "Instances of a leaf, at least.";
  }

  /** Gives the option. */
  public int getMinSamplesLeaf() {
    return minSamplesLeaf;
  }

  /** Sets the option. */
  public void setMinSamplesLeaf(int minSamplesLeaf) {
    this.minSamplesLeaf = minSamplesLeaf;
  }

  /** Says what the option is for. */
  public String minScoreTipText() {
    return "What a split must be worth.";
  }

  /** Gives the option. */
  public double getMinScore() {
    return minScore;
  }

  /** Sets the option. */
  public void setMinScore(double minScore) {
    this.minScore = minScore;
  }

  /** Says what the option is for. */
  public String balancedTipText() {
    return "Whether all classes weigh the same.";
  }

  /** Gives the option. */
  public boolean getBalanced() {
    return balanced;
  }

  /** Sets the option. */
  public void setBalanced(boolean balanced) {
    this.balanced = balanced;
  }

  /** Says what the option is for. */
  public String ccpAlphaTipText() {
    return "Cost-complexity pruning: what a leaf costs, as a share of the instances.";
  }

  /** Gives the option. */
  public double getCcpAlpha() {
    return ccpAlpha;
  }

  /** Sets the option. */
  public void setCcpAlpha(double ccpAlpha) {
    this.ccpAlpha = ccpAlpha;
  }

  /** Says what the option is for. */
  public String pruneHoldoutTipText() {
    return "Reduced-error pruning: the share of the instances that prunes; 0 is no pruning.";
  }

  /** Gives the option. */
  public double getPruneHoldout() {
    return pruneHoldout;
  }

  /** Sets the option. */
  public void setPruneHoldout(double pruneHoldout) {
    this.pruneHoldout = pruneHoldout;
  }

  /** Says what the option is for. */
  public String seedTipText() {
    return "Seed of the choice of the instances that prune.";
  }

  /** Gives the option. */
  public int getSeed() {
    return seed;
  }

  /** Sets the option. */
  public void setSeed(int seed) {
    this.seed = seed;
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
    can.setMinimumNumberInstances(1);
    return can;
  }

  @Override
  public void buildClassifier(Instances training) throws Exception {
    tree = null;
    getCapabilities().testWithFail(training);
    List<Integer> features = new ArrayList<>();
    for (int a = 0; a < training.numAttributes(); a++) {
      if (a != training.classIndex()) {
        features.add(a);
      }
    }
    String policy = TAGS_MISSING[missing].getIDStr();
    Options options = new Options()
        .set("criterion", TAGS_CRITERION[criterion].getIDStr())
        .set("missing", policy)
        .set("max_depth", maxDepth)
        .set("min_samples_leaf", minSamplesLeaf)
        .set("min_score", minScore)
        .set("balanced", balanced)
        .set("ccp_alpha", ccpAlpha)
        .set("prune_holdout", pruneHoldout)
        .set("seed", seed);
    try (Run run = engine.newRun();
        Table table = EngineTable.of(training, features);
        Tree grown = Tree.fit(table, options, run)) {
      tree = new PlainTree(grown.model(), training, features, policy);
    }
  }

  @Override
  public double[] distributionForInstance(Instance row) throws Exception {
    return built().distribution(row);
  }

  private PlainTree built() {
    if (tree == null) {
      throw new IllegalStateException("the tree has not been built: call buildClassifier first");
    }
    return tree;
  }

  @Override
  public int graphType() {
    return Drawable.TREE;
  }

  @Override
  public String graph() throws Exception {
    return built().dot();
  }

  @Override
  public Enumeration<String> enumerateMeasures() {
    return Collections.enumeration(Arrays.asList("measureNumLeaves", "measureTreeSize"));
  }

  @Override
  public double getMeasure(String name) {
    switch (name.toLowerCase(Locale.ROOT)) {
      case "measurenumleaves": return built().leaves();
      case "measuretreesize": return built().nodes();
      default: throw new IllegalArgumentException("StopeTree has no measure '" + name + "'");
    }
  }

  @Override
  public String toString() {
    if (tree == null) {
      return "StopeTree: no tree has been built yet";
    }
    return "stope local discretisation tree\n\n" + tree.text() + "\nNumber of Leaves  : \t" + tree.leaves()
        + "\n\nSize of the tree : \t" + tree.nodes() + "\n";
  }

  @Override
  public String getRevision() {
    return "stope";
  }

  /** Runs the classifier with WEKA's command line options. */
  public static void main(String[] arguments) {
    runClassifier(new StopeTree(), arguments);
  }
}
