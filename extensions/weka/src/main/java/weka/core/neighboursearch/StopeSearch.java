// SPDX-License-Identifier: GPL-3.0-or-later
package weka.core.neighboursearch;

import java.util.Enumeration;
import java.util.List;
import org.stope.weka.EngineOptions;
import org.stope.weka.ExpectedQueries;
import org.stope.weka.NeighborFinder;
import org.stope.weka.OptionValues;
import org.stope.weka.RankedRows;
import org.stope.weka.SchemeOption;
import org.stope.weka.SchemeOptions;
import weka.core.DistanceFunction;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.NormalizableDistance;
import weka.core.Option;

/**
 * Exact nearest neighbours by stope. It finds the rows and the distances that LinearNNSearch finds, all ties at the k-th
 * distance included, on all cores or on a GPU. Like any search of WEKA, one thread at a time may use it.
 */
public class StopeSearch extends NearestNeighbourSearch {
  private static final long serialVersionUID = 1L;

  private static final SchemeOptions OPTIONS = new SchemeOptions();
  private static final SchemeOption<Boolean> SKIP_IDENTICAL =
      OPTIONS.flag("S", "Skip identical instances, those at distance 0");
  private static final SchemeOption<Boolean> FIXED_RANGES = OPTIONS.flag("fixed-ranges",
      "Keep the ranges of the training instances for normalising. Without it, each query widens them first, as in"
          + " WEKA's own searches, and results depend on the order of the queries");

  private final OptionValues own = new OptionValues();
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
    return OPTIONS.listed(super.listOptions());
  }

  @Override
  public void setOptions(String[] options) throws Exception {
    OPTIONS.take(options, own);
    super.setOptions(options);
    forget();
  }

  @Override
  public String[] getOptions() {
    return OPTIONS.written(own, super.getOptions());
  }

  /** Says what the property is; WEKA's check of editors wants a text for every property. */
  public String instancesTipText() {
    return "The training instances, which the classifier sets.";
  }

  // WEKA's editors find an option by three methods of its name.

  public String skipIdenticalTipText() {
    return SKIP_IDENTICAL.tip();
  }

  public boolean getSkipIdentical() {
    return own.get(SKIP_IDENTICAL);
  }

  public void setSkipIdentical(boolean skipIdentical) {
    own.set(SKIP_IDENTICAL, skipIdentical);
  }

  public String fixedRangesTipText() {
    return FIXED_RANGES.tip();
  }

  public boolean getFixedRanges() {
    return own.get(FIXED_RANGES);
  }

  public void setFixedRanges(boolean fixedRanges) {
    own.set(FIXED_RANGES, fixedRanges);
    forget();
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
  public void setDistanceFunction(DistanceFunction distance) throws Exception {
    NeighborFinder.requireKnown(distance);
    super.setDistanceFunction(distance);
    forget();
  }

  @Override
  public void setInstances(Instances training) throws Exception {
    NeighborFinder.requireKnown(m_DistanceFunction);
    EngineOptions.check(own); // A mistake in its options is told now, not at the first query.
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
    if (m_Instances != null && !getFixedRanges()) {
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
    RankedRows found = expected == null ? null : expected.find(target, k, getSkipIdentical());
    if (found == null) {
      found = finder().find(target, k, getSkipIdentical());
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
      finder = new NeighborFinder(m_Instances, (NormalizableDistance) m_DistanceFunction, own, !getFixedRanges());
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
