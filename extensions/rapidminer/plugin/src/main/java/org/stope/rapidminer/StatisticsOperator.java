// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.AttributeRole;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.ports.InputPort;
import com.rapidminer.operator.ports.OutputPort;
import com.rapidminer.parameter.ParameterType;
import com.rapidminer.parameter.ParameterTypeBoolean;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.stope.rapidminer.engine.Blocks;
import org.stope.rapidminer.engine.ColumnHeader;
import org.stope.rapidminer.engine.ResultTable;
import org.stope.rapidminer.engine.RowSink;
import org.stope.rapidminer.engine.Worker;

/** Statistics (stope): an example for each attribute, with its missing values, range, mean, deviation, and so on. */
public class StatisticsOperator extends Operator {
  static final String INCLUDE_SPECIAL = "include_special_attributes";

  private final InputPort input = getInputPorts().createPort("example set input", ExampleSet.class);
  private final OutputPort statistics = getOutputPorts().createPort("statistics");
  private final OutputPort original = getOutputPorts().createPort("original");

  public StatisticsOperator(OperatorDescription description) {
    super(description);
    getTransformer().addPassThroughRule(input, original);
    getTransformer().addGenerationRule(statistics, ExampleSet.class);
  }

  @Override
  public void doWork() throws OperatorException {
    final ExampleSet set = input.getData(ExampleSet.class);
    final Columns columns = Columns.regular(set);
    if (getParameterAsBoolean(INCLUDE_SPECIAL)) {
      Iterator<AttributeRole> special = set.getAttributes().specialAttributes();
      while (special.hasNext()) {
        Attribute attribute = special.next().getAttribute();
        columns.add(attribute, ColumnHeader.Role.REGULAR);
      }
    }
    final Map<String, String> options = new HashMap<String, String>();
    ResultTable result = Work.run(this, new Work.Body<ResultTable>() {
      @Override
      public ResultTable run(final Worker worker) throws Exception {
        final RowSink table =
            Blocks.load(worker, columns.headers, new ExampleRows(set, columns.attributes), set.size());
        return worker.run(() -> worker.session().compute("stats", table, null, options));
      }
    });
    statistics.deliver(ResultSets.of(result));
    original.deliver(set);
  }

  @Override
  public List<ParameterType> getParameterTypes() {
    List<ParameterType> types = super.getParameterTypes();
    types.add(new ParameterTypeBoolean(INCLUDE_SPECIAL, "Also describe the label, the id and other special attributes.",
        true, false));
    types.addAll(EngineParameters.types());
    return types;
  }
}
