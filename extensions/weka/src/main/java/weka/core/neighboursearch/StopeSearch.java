// SPDX-License-Identifier: GPL-3.0-or-later
package weka.core.neighboursearch;

import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Vector;
import org.stope.weka.EngineOptions;
import org.stope.weka.ExpectedQueries;
import org.stope.weka.NeighborFinder;
import org.stope.weka.RankedRows;
import weka.core.DistanceFunction;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.NormalizableDistance;
import weka.core.Option;
import weka.core.Utils;

/**
 * Exact nearest neighbours by stope. It finds the rows and the distances that LinearNNSearch finds, all ties at the k-th
 * distance included, on all cores or on a GPU. Like any search of WEKA, one thread at a time may use it.
 */
public class StopeSearch extends NearestNeighbourSearch {
  private static final long serialVersionUID = 1L;

  private boolean skipIdentical;
  private boolean fixedRanges;
  private final EngineOptions engine = new EngineOptions();
  private double[] distances;
  private transient NeighborFinder finder;
  private transient ExpectedQueries expected;

  @Override
  public String globalInfo() {
    return "Finds exact nearest neighbours by stope: those of LinearNNSearch, with all ties at the k-th distance, on all"
        + " cores or on a GPU. It takes the distance functions Euclidean, Manhattan, Chebyshev and Minkowski.";
  }

  @Override
  public Enumeration<Option> listOptions() {
    Vector<Option> all = new Vector<>();
    all.add(new Option("\tSkip identical instances (distance 0).", "S", 0, "-S"));
    all.add(new Option("\tKeep the ranges of the training instances. Without it, every query widens them first, as"
        + " in WEKA's own searches.", "fixed-ranges", 0, "-fixed-ranges"));
    all.addAll(EngineOptions.list());
    all.addAll(Collections.list(super.listOptions()));
    return all.elements();
  }

  @Override
  public void setOptions(String[] options) throws Exception {
    setSkipIdentical(Utils.getFlag('S', options));
    setFixedRanges(Utils.getFlag("fixed-ranges", options));
    engine.take(options);
    super.setOptions(options);
  }

  @Override
  public String[] getOptions() {
    Vector<String> words = new Vector<>();
    Collections.addAll(words, super.getOptions());
    if (skipIdentical) {
      words.add("-S");
    }
    if (fixedRanges) {
      words.add("-fixed-ranges");
    }
    words.addAll(engine.written());
    return words.toArray(new String[0]);
  }

  /** Says what the property is; WEKA's check of editors wants a text for every property. */
  public String instancesTipText() {
    return "The training instances, which the classifier sets.";
  }

  /** Says what the option is for. */
  public String skipIdenticalTipText() {
    return "Whether instances at distance 0 are passed over.";
  }

  /** Sets whether instances at distance 0 are passed over. */
  public void setSkipIdentical(boolean skip) {
    skipIdentical = skip;
  }

  /** Says whether instances at distance 0 are passed over. */
  public boolean getSkipIdentical() {
    return skipIdentical;
  }

  /** Says what the option is for. */
  public String fixedRangesTipText() {
    return "Whether the ranges for normalising stay those of the training instances. If not, each query widens them"
        + " first, as in WEKA's own searches, and results depend on the order of the queries.";
  }

  /** Sets whether queries leave the ranges as they are. */
  public void setFixedRanges(boolean fixed) {
    fixedRanges = fixed;
    forget();
  }

  /** Says whether queries leave the ranges as they are. */
  public boolean getFixedRanges() {
    return fixedRanges;
  }

  /** Says what the option is for. */
  public String deviceTipText() {
    return "Where stope computes: auto, cpu, cuda or cuda:0,1. Results are the same everywhere.";
  }

  /** Sets where stope computes. */
  public void setDevice(String device) {
    engine.setDevice(device);
  }

  /** Says where stope computes. */
  public String getDevice() {
    return engine.device();
  }

  /** Says what the option is for. */
  public String threadsTipText() {
    return "CPU threads of stope; 0 is all.";
  }

  /** Sets the CPU threads; 0 is all. */
  public void setThreads(int threads) {
    engine.setThreads(threads);
  }

  /** Gives the CPU threads; 0 is all. */
  public int getThreads() {
    return engine.threads();
  }

  /** Says what the option is for. */
  public String memoryLimitTipText() {
    return "Memory that stope may take, as 2GB; empty: 80 % of what is free.";
  }

  /** Sets the memory that stope may take. */
  public void setMemoryLimit(String limit) {
    engine.setMemoryLimit(limit);
  }

  /** Gives the memory that stope may take. */
  public String getMemoryLimit() {
    return engine.memoryLimit();
  }

  @Override
  public void setDistanceFunction(DistanceFunction distance) throws Exception {
    NeighborFinder.requireKnown(distance);
    super.setDistanceFunction(distance);
    forget();
  }

  @Override
  public void setInstances(Instances training) throws Exception {
    NeighborFinder.requireKnown(m_DistanceFunction);
    forget();
    m_Instances = training;
    m_DistanceFunction.setInstances(training);
  }

  @Override
  public void update(Instance added) throws Exception {
    if (m_Instances == null) {
      throw new IllegalStateException("there are no training instances yet: call setInstances first");
    }
    m_DistanceFunction.update(added);
    if (finder != null) {
      finder.close();
    }
  }

  @Override
  public void addInstanceInfo(Instance query) {
    if (m_Instances != null && !fixedRanges) {
      m_DistanceFunction.update(query);
    }
  }

  /**
   * Announces queries that will be asked one after the other, so that they are searched in blocks. Others may be asked in
   * between. Null announces none.
   *
   * @return the queries that were announced before, from the next one on
   */
  public List<Instance> expect(List<Instance> queries) {
    List<Instance> before = expected == null ? null : expected.remaining();
    expected = queries == null ? null : new ExpectedQueries(queries, finder());
    return before;
  }

  @Override
  public Instances kNearestNeighbours(Instance target, int k) throws Exception {
    if (m_Instances == null) {
      throw new IllegalStateException("there are no training instances yet: call setInstances first");
    }
    if (k < 1) {
      throw new IllegalArgumentException("k is " + k + ", and at least 1 is needed");
    }
    RankedRows found = expected == null ? null : expected.find(target, k, skipIdentical);
    if (found == null) {
      found = finder().find(target, k, skipIdentical);
    }
    Instances neighbours = new Instances(m_Instances, found.rows().length);
    for (int row : found.rows()) {
      neighbours.add(m_Instances.instance(row));
    }
    distances = found.distances().clone();
    m_DistanceFunction.postProcessDistances(distances);
    return neighbours;
  }

  @Override
  public Instance nearestNeighbour(Instance target) throws Exception {
    Instances nearest = kNearestNeighbours(target, 1);
    if (nearest.isEmpty()) {
      throw new IllegalStateException("there is no other training instance");
    }
    return nearest.instance(0);
  }

  @Override
  public double[] getDistances() throws Exception {
    if (distances == null) {
      throw new IllegalStateException("no neighbours were searched yet: call kNearestNeighbours first");
    }
    return distances;
  }

  private NeighborFinder finder() {
    if (finder == null) {
      finder = new NeighborFinder(m_Instances, (NormalizableDistance) m_DistanceFunction, engine, !fixedRanges);
    }
    return finder;
  }

  private void forget() {
    if (finder != null) {
      finder.close();
    }
    finder = null;
    expected = null;
  }

  @Override
  public String getRevision() {
    return "stope";
  }
}
