// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.example.Tools;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.similarity.CrossDistancesOperator;
import com.rapidminer.parameter.ParameterType;
import java.util.List;
import java.util.Map;
import org.stope.rapidminer.engine.Blocks;
import org.stope.rapidminer.engine.ResultTable;
import org.stope.rapidminer.engine.RowSink;
import org.stope.rapidminer.engine.Worker;

/**
 * Cross Distances (stope). Ports, parameters and meta data are those of the built-in operator, which this class
 * extends.
 */
public class CrossDistancesStopeOperator extends CrossDistancesOperator {
  private static final String REQUESTS = "request set";
  private static final String REFERENCES = "reference set";
  private static final String RESULT = "result set";

  public CrossDistancesStopeOperator(OperatorDescription description) {
    super(description);
  }

  @Override
  public void doWork() throws OperatorException {
    ExampleSet requests = getInputPorts().getPortByName(REQUESTS).getData(ExampleSet.class);
    ExampleSet references = getInputPorts().getPortByName(REFERENCES).getData(ExampleSet.class);
    Tools.checkAndCreateIds(requests);
    Tools.checkAndCreateIds(references);
    MeasureOptions measure = new MeasureOptions(this);
    boolean farthest = getParameterAsInt(PARAMETER_SEARCH_MODE) == 1;
    int k = getParameterAsBoolean(PARAMETER_USE_K) ? getParameterAsInt(PARAMETER_K) : 0;

    DistancePairs pairs = new DistancePairs(this, requests, references);
    if (requests.size() == 0 || references.size() == 0) {
      getLogger().info("stope: one of the sets is empty, so there are no pairs.");
    } else if (namesMatch(requests, references)) {
      // Nobody keeps the engine's table: the pairs take as much memory again, and sorting them, too.
      pairs.add(compute(requests, references, measure, k, farthest));
    } else {
      // The built-in operator measures nothing then, and says so by missing values.
      pairs.addMissing(k > 0 ? Math.min(k, references.size()) : references.size());
    }
    getOutputPorts().getPortByName(REQUESTS).deliver(requests);
    getOutputPorts().getPortByName(REFERENCES).deliver(references);
    getOutputPorts().getPortByName(RESULT).deliver(pairs.sorted(farthest));
  }

  private ResultTable compute(final ExampleSet requests, final ExampleSet references, MeasureOptions measure, int k,
      boolean farthest) throws OperatorException {
    final Map<String, String> options = measure.options();
    options.put("similarities", String.valueOf(getParameterAsBoolean(PARAMETER_COMPUTE_SIMILARITIES)));
    if (k > 0) {
      options.put("n_neighbors", String.valueOf(k));
      options.put("search_for", farthest ? "farthest" : "nearest");
    }
    final CrossColumns columns = new CrossColumns(this, requests, references, measure.metric());
    return Work.run(this, new Work.Body<ResultTable>() {
      @Override
      public ResultTable run(final Worker worker) throws Exception {
        final RowSink table = columns.load(worker, requests);
        final RowSink other = Blocks.second(table, () -> columns.load(worker, references));
        return worker.run(() -> worker.session().compute("pairwise", table, other, options));
      }
    });
  }

  private static boolean namesMatch(ExampleSet requests, ExampleSet references) {
    if (requests.getAttributes().size() != references.getAttributes().size()) {
      return false;
    }
    for (Attribute attribute : requests.getAttributes()) {
      if (references.getAttributes().getRegular(attribute.getName()) == null) {
        return false;
      }
    }
    return true;
  }

  @Override
  public List<ParameterType> getParameterTypes() {
    List<ParameterType> types = super.getParameterTypes();
    types.addAll(EngineParameters.types());
    return types;
  }
}
