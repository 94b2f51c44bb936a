// SPDX-License-Identifier: GPL-3.0-or-later
package weka.classifiers.lazy;

import java.util.List;
import weka.core.DistanceFunction;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.SerializedObject;
import weka.core.neighboursearch.FilteredNeighbourSearch;
import weka.core.neighboursearch.LinearNNSearch;
import weka.core.neighboursearch.NearestNeighbourSearch;
import weka.core.neighboursearch.StopeSearch;

/**
 * IBk with its neighbours found by stope. All options, votes and capabilities are IBk's, which this class extends. Any
 * search that option -A names is replaced by StopeSearch with the same distance function, as all exact searches have the
 * same result. Many predictions at once are much faster than one by one. Several threads may predict at once; they wait
 * for each other.
 */
public class StopeIBk extends IBk {
  private static final long serialVersionUID = 1L;

  /** Makes a classifier with IBk's defaults. */
  public StopeIBk() {
    this(1);
  }

  /** Makes a classifier of k neighbours. */
  public StopeIBk(int k) {
    super(k);
    m_NNSearch = new StopeSearch();
  }

  @Override
  public String globalInfo() {
    return "K-nearest neighbours classifier: IBk with its neighbours found by stope, on all cores or on a GPU."
        + " Distributions are those of IBk with LinearNNSearch. Can select k by hold-one-out cross-validation and weigh"
        + " neighbours by distance.";
  }

  @Override
  public String nearestNeighbourSearchAlgorithmTipText() {
    return "StopeSearch, with its distance function. Another search is replaced by it, with the same distance function.";
  }

  @Override
  public void setNearestNeighbourSearchAlgorithm(NearestNeighbourSearch search) {
    if (search instanceof StopeSearch) {
      super.setNearestNeighbourSearchAlgorithm(search);
      return;
    }
    if (search == null || search instanceof FilteredNeighbourSearch) {
      throw new IllegalArgumentException("StopeIBk cannot search with "
          + (search == null ? "null" : search.getClass().getName())
          + ": filter the table first, with FilteredClassifier, and take StopeSearch");
    }
    StopeSearch own = new StopeSearch();
    try {
      // A function of its own: searches put training rows into theirs.
      own.setDistanceFunction((DistanceFunction) new SerializedObject(search.getDistanceFunction()).getObject());
      if (search instanceof LinearNNSearch) {
        own.setSkipIdentical(((LinearNNSearch) search).getSkipIdentical());
      }
      own.setMeasurePerformance(search.getMeasurePerformance());
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    super.setNearestNeighbourSearchAlgorithm(own);
  }

  @Override
  public void buildClassifier(Instances training) throws Exception {
    if (m_kNNUpper < 1) {
      throw new IllegalArgumentException("-K is " + m_kNNUpper + ": at least 1 neighbour is needed");
    }
    if (m_WindowSize < 0) {
      throw new IllegalArgumentException("-W is " + m_WindowSize + ": give 0 for all, or a positive number");
    }
    super.buildClassifier(training);
  }

  @Override
  public synchronized void updateClassifier(Instance added) throws Exception {
    requireBuilt();
    super.updateClassifier(added);
  }

  private void requireBuilt() {
    if (m_Train == null) {
      throw new IllegalStateException("the classifier has not been built: call buildClassifier first");
    }
  }

  @Override
  public synchronized double[] distributionForInstance(Instance row) throws Exception {
    requireBuilt();
    return super.distributionForInstance(row);
  }

  @Override
  public boolean implementsMoreEfficientBatchPrediction() {
    return true;
  }

  @Override
  public synchronized double[][] distributionsForInstances(Instances rows) throws Exception {
    requireBuilt();
    double[][] distributions = new double[rows.numInstances()][];
    StopeSearch search = (StopeSearch) m_NNSearch;
    if (m_Train.numInstances() > 0) {
      search.expect(rows);
    }
    try {
      for (int i = 0; i < distributions.length; i++) {
        distributions[i] = super.distributionForInstance(rows.instance(i));
      }
    } finally {
      search.expect(null);
    }
    return distributions;
  }

  @Override
  protected void crossValidate() {
    StopeSearch search = (StopeSearch) m_NNSearch;
    List<Instance> before = search.expect(m_Train);
    try {
      super.crossValidate();
    } catch (Error e) {
      if (e.getClass() == Error.class) { // IBk wraps what a search throws, and the Explorer shows no errors.
        throw new IllegalStateException(e.getMessage(), e);
      }
      throw e;
    } finally {
      search.expect(before);
    }
  }

  @Override
  public String getRevision() {
    return "stope";
  }

  /** Runs the classifier with WEKA's command line options. */
  public static void main(String[] arguments) {
    runClassifier(new StopeIBk(), arguments);
  }
}
