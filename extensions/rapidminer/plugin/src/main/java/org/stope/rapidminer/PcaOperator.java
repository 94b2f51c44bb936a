// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.ports.InputPort;
import com.rapidminer.operator.ports.OutputPort;
import com.rapidminer.parameter.ParameterType;
import com.rapidminer.parameter.ParameterTypeBoolean;
import com.rapidminer.parameter.ParameterTypeCategory;
import com.rapidminer.parameter.ParameterTypeDouble;
import com.rapidminer.parameter.ParameterTypeInt;
import com.rapidminer.parameter.conditions.EqualTypeCondition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** PCA (stope): principal components of the numeric attributes. */
public class PcaOperator extends Operator {
  static final String REDUCTION = "dimensionality_reduction";
  static final String SHARE = "variance_threshold";
  static final String COUNT = "number_of_components";
  static final String NORMALIZE = "normalize";
  static final String WHITEN = "whiten";
  static final String IMPUTE = "replace_missing_by_mean";
  static final String NUMERIC_ONLY = "skip_nominal_attributes";

  private static final String[] REDUCTIONS = {"none", "keep variance", "fixed number"};

  private final InputPort input = getInputPorts().createPort("example set input", ExampleSet.class);
  private final OutputPort output = getOutputPorts().createPort("example set output");
  private final OutputPort original = getOutputPorts().createPort("original");
  private final OutputPort model = getOutputPorts().createPort("preprocessing model");

  public PcaOperator(OperatorDescription description) {
    super(description);
    getTransformer().addGenerationRule(output, ExampleSet.class);
    getTransformer().addPassThroughRule(input, original);
    getTransformer().addGenerationRule(model, PcaModel.class);
  }

  @Override
  public void doWork() throws OperatorException {
    ExampleSet set = input.getData(ExampleSet.class);
    if (!getParameterAsBoolean(NUMERIC_ONLY)) {
      for (Attribute attribute : set.getAttributes()) {
        if (!attribute.isNumerical()) {
          throw StopeError.user(this, "nominal_in_pca", attribute.getName());
        }
      }
    }
    PcaModel fitted = PcaModel.fit(this, set, options());
    model.deliver(fitted);
    original.deliver(set);
    if (output.isConnected()) {
      output.deliver(fitted.apply((ExampleSet) set.clone()));
    }
  }

  private Map<String, String> options() throws OperatorException {
    Map<String, String> options = new HashMap<String, String>();
    switch (getParameterAsInt(REDUCTION)) {
      case 1:
        // To the engine 1 is a number of components, and 0 is none.
        double share = getParameterAsDouble(SHARE);
        if (share <= 0) {
          options.put("n_components", "1");
        } else if (share < 1) {
          options.put("n_components", getParameterAsString(SHARE));
        }
        break;
      case 2:
        options.put("n_components", getParameterAsString(COUNT));
        break;
      default:
        break;
    }
    if (getParameterAsBoolean(NORMALIZE)) {
      options.put("scaling", "z");
    }
    if (getParameterAsBoolean(WHITEN)) {
      options.put("whiten", "true");
    }
    if (getParameterAsBoolean(IMPUTE)) {
      options.put("missing", "mean");
    }
    return options;
  }

  @Override
  public List<ParameterType> getParameterTypes() {
    List<ParameterType> types = super.getParameterTypes();
    types.add(new ParameterTypeCategory(REDUCTION, "How many components are kept.", REDUCTIONS, 1, false));
    ParameterType share = new ParameterTypeDouble(SHARE, "Keep the first components that explain this share of the "
        + "variance. 1: all components; 0: the first one.", 0.0, 1.0, 0.95);
    share.setExpert(false);
    share.registerDependencyCondition(new EqualTypeCondition(this, REDUCTION, REDUCTIONS, true, 1));
    types.add(share);
    ParameterType count = new ParameterTypeInt(COUNT, "Keep this many components.", 1, Integer.MAX_VALUE, 2);
    count.setExpert(false);
    count.registerDependencyCondition(new EqualTypeCondition(this, REDUCTION, REDUCTIONS, true, 2));
    types.add(count);
    types.add(new ParameterTypeBoolean(NORMALIZE, "Divide every attribute by its standard deviation first, so that "
        + "units do not matter.", false, false));
    types.add(new ParameterTypeBoolean(WHITEN, "Divide the scores by their standard deviation.", false, true));
    types.add(new ParameterTypeBoolean(IMPUTE, "Replace a missing value by the mean of its attribute; otherwise it is "
        + "an error.", false, true));
    types.add(new ParameterTypeBoolean(NUMERIC_ONLY, "Leave nominal attributes out; otherwise they are an error.",
        false, true));
    types.addAll(EngineParameters.types());
    return types;
  }
}
