// SPDX-License-Identifier: GPL-3.0-or-later
package weka.classifiers.trees;

import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import org.stope.Options;
import org.stope.Run;
import org.stope.Table;
import org.stope.Tree;
import org.stope.weka.ChoiceOption;
import org.stope.weka.Choices;
import org.stope.weka.EngineOptions;
import org.stope.weka.EngineTable;
import org.stope.weka.OptionValues;
import org.stope.weka.PlainTree;
import org.stope.weka.SchemeOption;
import org.stope.weka.SchemeOptions;
import weka.classifiers.AbstractClassifier;
import weka.core.AdditionalMeasureProducer;
import weka.core.Capabilities;
import weka.core.Drawable;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Option;
import weka.core.Randomizable;
import weka.core.SelectedTag;
import weka.core.Utils;
import weka.core.WeightedInstancesHandler;

/**
 * A local discretisation tree of stope: a binary tree whose splits separate the most pairs of instances of different
 * classes. A built tree needs no engine. Several threads may predict at once.
 */
public class StopeTree extends AbstractClassifier
    implements Drawable, WeightedInstancesHandler, AdditionalMeasureProducer, Randomizable {
  private static final long serialVersionUID = 1L;

  private static final SchemeOptions OPTIONS = new SchemeOptions();
  private static final ChoiceOption CRITERION = OPTIONS.choice("criterion", Choices.CRITERIA, "What a split is worth");
  private static final ChoiceOption MISSING = OPTIONS.choice("missing", Choices.MISSING, "What a missing value means");
  private static final SchemeOption<Integer> MAX_DEPTH =
      OPTIONS.whole("depth", -1, -1, "Depth at most; the root has 0; -1 is any");
  private static final SchemeOption<Integer> MIN_SAMPLES_LEAF =
      OPTIONS.whole("M", 1, 1, "Instances of a leaf, at least");
  private static final SchemeOption<Double> MIN_SCORE =
      OPTIONS.number("min-score", 0, "What a split must be worth");
  private static final SchemeOption<Boolean> BALANCED = OPTIONS.flag("balanced", "All classes weigh the same");
  private static final SchemeOption<Double> CCP_ALPHA = OPTIONS.number("ccp-alpha", 0,
      "Cost-complexity pruning: what a leaf costs, as a share of the instances");
  private static final SchemeOption<Double> PRUNE_HOLDOUT = OPTIONS.number("prune-holdout", 0,
      "Reduced-error pruning: the share of the instances that prunes; 0 is no pruning");
  private static final SchemeOption<Integer> SEED =
      OPTIONS.whole("S", 0, Integer.MIN_VALUE, "Seed of the choice of the instances that prune");

  private final OptionValues own = new OptionValues();
  private PlainTree tree;

  /** Describes the classifier. */
  public String globalInfo() {
    return "Local discretisation tree: a binary tree whose splits separate the most pairs of instances of different"
        + " classes. Numbers are split by a cut, nominal values by one value against the others. Computed by stope, on"
        + " all cores or on a GPU.";
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

  public String missingTipText() {
    return MISSING.tip();
  }

  public SelectedTag getMissing() {
    return own.tag(MISSING);
  }

  public void setMissing(SelectedTag chosen) {
    own.set(MISSING, chosen);
  }

  public String maxDepthTipText() {
    return MAX_DEPTH.tip();
  }

  public int getMaxDepth() {
    return own.get(MAX_DEPTH);
  }

  public void setMaxDepth(int maxDepth) {
    own.set(MAX_DEPTH, maxDepth);
  }

  public String minSamplesLeafTipText() {
    return MIN_SAMPLES_LEAF.tip();
  }

  public int getMinSamplesLeaf() {
    return own.get(MIN_SAMPLES_LEAF);
  }

  public void setMinSamplesLeaf(int minSamplesLeaf) {
    own.set(MIN_SAMPLES_LEAF, minSamplesLeaf);
  }

  public String minScoreTipText() {
    return MIN_SCORE.tip();
  }

  public double getMinScore() {
    return own.get(MIN_SCORE);
  }

  public void setMinScore(double minScore) {
    own.set(MIN_SCORE, minScore);
  }

  public String balancedTipText() {
    return BALANCED.tip();
  }

  public boolean getBalanced() {
    return own.get(BALANCED);
  }

  public void setBalanced(boolean balanced) {
    own.set(BALANCED, balanced);
  }

  public String ccpAlphaTipText() {
    return CCP_ALPHA.tip();
  }

  public double getCcpAlpha() {
    return own.get(CCP_ALPHA);
  }

  public void setCcpAlpha(double ccpAlpha) {
    own.set(CCP_ALPHA, ccpAlpha);
  }

  public String pruneHoldoutTipText() {
    return PRUNE_HOLDOUT.tip();
  }

  public double getPruneHoldout() {
    return own.get(PRUNE_HOLDOUT);
  }

  public void setPruneHoldout(double pruneHoldout) {
    own.set(PRUNE_HOLDOUT, pruneHoldout);
  }

  public String seedTipText() {
    return SEED.tip();
  }

  public int getSeed() {
    return own.get(SEED);
  }

  public void setSeed(int seed) {
    own.set(SEED, seed);
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
    Capabilities can = EngineTable.capabilities(super.getCapabilities());
    can.setMinimumNumberInstances(1);
    return can;
  }

  @Override
  public void buildClassifier(Instances training) throws Exception {
    tree = null;
    getCapabilities().testWithFail(training);
    List<Integer> features = EngineTable.features(training);
    String missing = own.get(MISSING);
    Options options = new Options()
        .set("criterion", own.get(CRITERION))
        .set("missing", missing)
        .set("max_depth", own.get(MAX_DEPTH))
        .set("min_samples_leaf", own.get(MIN_SAMPLES_LEAF))
        .set("min_score", own.get(MIN_SCORE))
        .set("balanced", own.get(BALANCED))
        .set("ccp_alpha", own.get(CCP_ALPHA))
        .set("prune_holdout", own.get(PRUNE_HOLDOUT))
        .set("seed", Integer.toUnsignedLong(own.get(SEED))); // WEKA's meta classifiers draw negative ones, too.
    try (Run run = EngineOptions.newRun(own);
        Table table = EngineTable.of(training, features);
        Tree grown = Tree.fit(table, options, run)) {
      tree = new PlainTree(grown.model(), training, features, missing);
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
