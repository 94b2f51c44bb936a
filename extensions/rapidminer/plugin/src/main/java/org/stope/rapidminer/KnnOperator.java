// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.learner.PredictionModel;
import com.rapidminer.operator.learner.lazy.KNNLearner;
import com.rapidminer.parameter.ParameterType;
import com.rapidminer.tools.math.similarity.DistanceMeasures;
import java.util.List;
import java.util.Map;
import org.stope.rapidminer.engine.Settings;

/**
 * k-NN (stope). Ports, parameters with their defaults, capabilities and checks of meta data are those of the built-in
 * operator of the RapidMiner that runs, since this class extends it.
 */
public class KnnOperator extends KNNLearner {
  public KnnOperator(OperatorDescription description) {
    super(description);
  }

  @Override
  public void doWork() throws OperatorException {
    // Before RapidMiner's own checks, whose messages name capabilities.
    checkInput(getExampleSetInputPort().getData(ExampleSet.class));
    super.doWork();
  }

  private void checkInput(ExampleSet set) throws OperatorException {
    if (set.getAttributes().getLabel() == null) {
      throw StopeError.user(this, "no_label");
    }
    int type = DistanceMeasures.getSelectedMeasureType(this);
    if (type == DistanceMeasures.NUMERICAL_MEASURES_TYPE || type == DistanceMeasures.DIVERGENCES_TYPE) {
      for (Attribute attribute : set.getAttributes()) {
        if (attribute.isNominal()) {
          throw StopeError.user(this, "nominal_attribute", attribute.getName());
        }
      }
    }
    if (getParameterAsInt(PARAMETER_K) < 1) {
      throw StopeError.user(this, "k_below_1", String.valueOf(getParameterAsInt(PARAMETER_K)));
    }
  }

  @Override
  public Model learn(ExampleSet set) throws OperatorException {
    MeasureOptions measure = new MeasureOptions(this);
    if (!measure.metric().equals(Measures.MAHALANOBIS)) {
      // Checks types and values. The engine computes the covariance itself.
      measure.measure().init(set, this);
    }
    int k = getParameterAsInt(PARAMETER_K);
    boolean weighted = getParameterAsBoolean(PARAMETER_WEIGHTED_VOTE);
    String warning = LargeK.warn(this, k, set.size(), set.getAttributes().getLabel().isNominal(), weighted);
    Map<String, String> options = measure.options();
    options.put("n_neighbors", String.valueOf(k));
    options.put("weights", weighted ? "distance" : "uniform");
    Settings settings = EngineParameters.of(this);
    KnnColumns columns = new KnnColumns(set, measure.metric());
    return KnnModel.learn(this, set, columns, options, settings, warning);
  }

  @Override
  public Class<? extends PredictionModel> getModelClass() {
    return KnnModel.class;
  }

  @Override
  public List<ParameterType> getParameterTypes() {
    List<ParameterType> types = super.getParameterTypes();
    types.addAll(EngineParameters.types());
    return types;
  }
}
