// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.tools.math.similarity.DistanceMeasure;
import com.rapidminer.tools.math.similarity.DistanceMeasures;
import java.util.HashMap;
import java.util.Map;

/** The measure that an operator's parameters choose, as options of the engine. */
final class MeasureOptions {
  private final DistanceMeasure measure;
  private final String metric;
  private final Map<String, String> options = new HashMap<String, String>();

  /** RapidMiner itself reads the parameters: it has rules of its own for processes that leave some out. */
  MeasureOptions(Operator operator) throws OperatorException {
    measure = DistanceMeasures.createMeasure(operator);
    metric = Measures.metricOf(measure.getClass().getName());
    if (metric == null) {
      throw StopeError.user(operator, "foreign_measure", measure.getClass().getSimpleName());
    }
    options.put("metric", metric);
    options.put("compat", "rapidminer");
    if (metric.equals(Measures.KERNEL)) {
      for (String parameter : Measures.KERNEL_PARAMETERS) {
        options.put("metric." + parameter, operator.getParameterAsString(parameter));
      }
    }
  }

  DistanceMeasure measure() {
    return measure;
  }

  String metric() {
    return metric;
  }

  /** A copy, to be added to. */
  Map<String, String> options() {
    return new HashMap<String, String>(options);
  }
}
