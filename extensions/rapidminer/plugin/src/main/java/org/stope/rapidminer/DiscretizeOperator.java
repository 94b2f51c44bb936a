// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.ports.InputPort;
import com.rapidminer.operator.ports.OutputPort;
import com.rapidminer.operator.preprocessing.discretization.DiscretizationModel;
import com.rapidminer.parameter.ParameterType;
import com.rapidminer.parameter.ParameterTypeBoolean;
import com.rapidminer.parameter.ParameterTypeCategory;
import com.rapidminer.parameter.ParameterTypeDouble;
import com.rapidminer.parameter.ParameterTypeInt;
import com.rapidminer.parameter.conditions.EqualTypeCondition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.stope.rapidminer.engine.Blocks;
import org.stope.rapidminer.engine.ColumnHeader;
import org.stope.rapidminer.engine.FittedModel;
import org.stope.rapidminer.engine.ResultTable;
import org.stope.rapidminer.engine.RowSink;
import org.stope.rapidminer.engine.Worker;

/**
 * Supervised Discretization (stope). Its model is RapidMiner's own model of ranges, so that RapidMiner shows, saves and
 * applies it without this extension.
 */
public class DiscretizeOperator extends Operator {
  static final String METHOD = "method";
  static final String MAX_CUTS = "maximal_number_of_cuts";
  static final String BINS = "number_of_bins";
  static final String CONFIDENCE = "confidence";
  static final String MIN_INTERVALS = "minimal_number_of_intervals";
  static final String REMOVE_USELESS = "remove_useless";

  static final String[] METHODS =
      {"md-global", "md-local", "mdlp", "chimerge", "equal-width", "equal-frequency"};
  private static final int FIRST_WITHOUT_LABEL = 4;
  // A missing value gets no range in RapidMiner, so it cannot be a value of its own here.
  private static final String[] POLICIES = {"error", "drop", "fill"};

  private final InputPort input = getInputPorts().createPort("example set input", ExampleSet.class);
  private final OutputPort output = getOutputPorts().createPort("example set output");
  private final OutputPort original = getOutputPorts().createPort("original");
  private final OutputPort model = getOutputPorts().createPort("preprocessing model");

  public DiscretizeOperator(OperatorDescription description) {
    super(description);
    getTransformer().addGenerationRule(output, ExampleSet.class);
    getTransformer().addPassThroughRule(input, original);
    getTransformer().addGenerationRule(model, DiscretizationModel.class);
  }

  @Override
  public void doWork() throws OperatorException {
    ExampleSet set = input.getData(ExampleSet.class);
    Columns columns = Columns.numeric(set);
    if (columns.attributes.isEmpty()) {
      throw StopeError.user(this, "no_numeric_attribute");
    }
    if (columns.attributes.size() < set.getAttributes().size()) {
      getLogger().info("stope: attributes that are not numeric stay as they are.");
    }
    int method = getParameterAsInt(METHOD);
    Attribute label = set.getAttributes().getLabel();
    if (label == null && method < FIRST_WITHOUT_LABEL) {
      throw StopeError.user(this, "no_label");
    }
    ResultTable cuts = findCuts(set, columns, label, options(method));
    DiscretizationModel ranges = new DiscretizationModel(set, getParameterAsBoolean(REMOVE_USELESS));
    ranges.setRanges(CutRanges.of(columns.headers, cuts));
    model.deliver(ranges);
    original.deliver(set);
    if (output.isConnected()) {
      output.deliver(ranges.apply((ExampleSet) set.clone()));
    }
  }

  private Map<String, String> options(int method) throws OperatorException {
    Map<String, String> options = new HashMap<String, String>();
    options.put("method", METHODS[method]);
    options.put("missing", POLICIES[getParameterAsInt(MissingPolicy.KEY)]);
    if (METHODS[method].equals("md-global")) {
      options.put("max_cuts", getParameterAsString(MAX_CUTS));
    } else if (METHODS[method].equals("chimerge")) {
      options.put("confidence", getParameterAsString(CONFIDENCE));
      options.put("min_intervals", getParameterAsString(MIN_INTERVALS));
    } else if (method >= FIRST_WITHOUT_LABEL) {
      options.put("n_bins", getParameterAsString(BINS));
    }
    return options;
  }

  private ResultTable findCuts(final ExampleSet set, final Columns columns, Attribute label,
      final Map<String, String> options) throws OperatorException {
    if (label != null) {
      columns.add(label, ColumnHeader.Role.LABEL);
    }
    return Work.run(this, new Work.Body<ResultTable>() {
      @Override
      public ResultTable run(final Worker worker) throws Exception {
        final RowSink table =
            Blocks.load(worker, columns.headers, new ExampleRows(set, columns.attributes), set.size());
        return worker.run(() -> {
          try (FittedModel fitted = worker.session().fit("cuts", table, options)) {
            return fitted.part("cuts");
          }
        });
      }
    });
  }

  @Override
  public List<ParameterType> getParameterTypes() {
    List<ParameterType> types = super.getParameterTypes();
    types.add(new ParameterTypeCategory(METHOD, "How cuts are found. md-global: one list of cuts that separates all "
        + "pairs of examples of different classes; md-local: the cuts of a tree; mdlp: Fayyad and Irani; "
        + "chimerge: Kerber; equal-width and equal-frequency look at no label.", METHODS, 0, false));
    types.add(shown(new ParameterTypeInt(MAX_CUTS, "At most this many cuts; 0: as many as are needed.", 0,
        Integer.MAX_VALUE, 0), 0));
    types.add(shown(new ParameterTypeInt(BINS, "How many ranges every attribute gets.", 2, Integer.MAX_VALUE, 5),
        4, 5));
    types.add(shown(new ParameterTypeDouble(CONFIDENCE, "The level at which neighbouring ranges differ.", 0.0, 1.0,
        0.9), 3));
    types.add(shown(new ParameterTypeInt(MIN_INTERVALS, "Merging stops at this many ranges.", 1, Integer.MAX_VALUE, 3),
        3));
    types.add(MissingPolicy.type(POLICIES));
    types.add(new ParameterTypeBoolean(REMOVE_USELESS, "Remove attributes that have only one range.", false, false));
    types.addAll(EngineParameters.types());
    return types;
  }

  private ParameterType shown(ParameterType type, int... methods) {
    type.setExpert(false);
    type.registerDependencyCondition(new EqualTypeCondition(this, METHOD, METHODS, false, methods));
    return type;
  }
}
