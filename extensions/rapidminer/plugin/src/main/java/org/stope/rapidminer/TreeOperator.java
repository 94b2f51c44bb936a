// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.OperatorCapability;
import com.rapidminer.operator.OperatorDescription;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.learner.AbstractLearner;
import com.rapidminer.operator.learner.PredictionModel;
import com.rapidminer.operator.learner.tree.TreeModel;
import com.rapidminer.parameter.ParameterType;
import com.rapidminer.parameter.ParameterTypeBoolean;
import com.rapidminer.parameter.ParameterTypeCategory;
import com.rapidminer.parameter.ParameterTypeDouble;
import com.rapidminer.parameter.ParameterTypeInt;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.stope.rapidminer.engine.Blocks;
import org.stope.rapidminer.engine.ColumnHeader;
import org.stope.rapidminer.engine.FittedModel;
import org.stope.rapidminer.engine.RowSink;
import org.stope.rapidminer.engine.Worker;

/**
 * Local Discretization Tree (stope): a binary tree whose splits separate the most pairs of examples of different
 * classes. The model is RapidMiner's own tree, so that it is shown and applied as trees are.
 */
public class TreeOperator extends AbstractLearner {
  static final String CRITERION = "criterion";
  static final String MAX_DEPTH = "maximal_depth";
  static final String MIN_LEAF = "minimal_leaf_size";
  static final String MIN_SCORE = "minimal_score";
  static final String PRUNING = "pruning_cost_of_a_leaf";
  static final String HOLDOUT = "pruning_share_of_examples";
  static final String BALANCED = "balance_classes";

  private static final String[] CRITERIA = {"discernibility", "gini", "entropy"};

  public TreeOperator(OperatorDescription description) {
    super(description);
  }

  @Override
  public void doWork() throws OperatorException {
    ExampleSet set = getExampleSetInputPort().getData(ExampleSet.class);
    if (set.getAttributes().getLabel() == null) {
      throw StopeError.user(this, "no_label");
    }
    super.doWork();
  }

  @Override
  public Model learn(final ExampleSet set) throws OperatorException {
    final Columns columns = Columns.regular(set);
    columns.add(set.getAttributes().getLabel(), ColumnHeader.Role.LABEL);
    Attribute weight = set.getAttributes().getWeight();
    if (weight != null) {
      columns.add(weight, ColumnHeader.Role.WEIGHT);
    }
    final Map<String, String> options = options();
    TreeTables tables = Work.run(this, new Work.Body<TreeTables>() {
      @Override
      public TreeTables run(final Worker worker) throws Exception {
        final RowSink table =
            Blocks.load(worker, columns.headers, new ExampleRows(set, columns.attributes), set.size());
        return worker.run(() -> {
          try (FittedModel fitted = worker.session().fit("tree", table, options)) {
            return new TreeTables(fitted);
          }
        });
      }
    });
    return new TreeModel(set, tables.toTree(set, options.get("missing").equals("value")));
  }

  private Map<String, String> options() throws OperatorException {
    Map<String, String> options = new HashMap<String, String>();
    options.put("criterion", CRITERIA[getParameterAsInt(CRITERION)]);
    options.put("missing", MissingPolicy.NAMES[getParameterAsInt(MissingPolicy.KEY)]);
    options.put("max_depth", getParameterAsString(MAX_DEPTH));
    options.put("min_samples_leaf", getParameterAsString(MIN_LEAF));
    options.put("min_score", getParameterAsString(MIN_SCORE));
    options.put("ccp_alpha", getParameterAsString(PRUNING));
    options.put("prune_holdout", getParameterAsString(HOLDOUT));
    options.put("balanced", String.valueOf(getParameterAsBoolean(BALANCED)));
    return options;
  }

  @Override
  public boolean supportsCapability(OperatorCapability capability) {
    switch (capability) {
      case BINOMINAL_ATTRIBUTES:
      case POLYNOMINAL_ATTRIBUTES:
      case NUMERICAL_ATTRIBUTES:
      case BINOMINAL_LABEL:
      case POLYNOMINAL_LABEL:
      case WEIGHTED_EXAMPLES:
      case MISSING_VALUES:
        return true;
      default:
        return false;
    }
  }

  @Override
  public Class<? extends PredictionModel> getModelClass() {
    return TreeModel.class;
  }

  @Override
  public List<ParameterType> getParameterTypes() {
    List<ParameterType> types = super.getParameterTypes();
    types.add(new ParameterTypeCategory(CRITERION, "What a split is worth. discernibility: the pairs of examples of "
        + "different classes that it separates; gini and entropy: the impurity that it removes.", CRITERIA, 0, false));
    types.add(number(new ParameterTypeInt(MAX_DEPTH, "The most splits above a leaf; -1: any number.", -1,
        Integer.MAX_VALUE, -1)));
    types.add(number(new ParameterTypeInt(MIN_LEAF, "The fewest examples of a leaf.", 1, Integer.MAX_VALUE, 1)));
    types.add(MissingPolicy.type(MissingPolicy.NAMES));
    types.add(number(new ParameterTypeDouble(PRUNING, "Pruning: a leaf costs as much as this share of the examples "
        + "misclassified. 0: no pruning.", 0.0, 1.0, 0.0)));
    types.add(new ParameterTypeDouble(HOLDOUT, "Pruning: this share of the examples prunes the tree of the others. 0: "
        + "none.", 0.0, 0.9, 0.0));
    types.add(new ParameterTypeDouble(MIN_SCORE, "What a split must be worth.", 0.0, Double.POSITIVE_INFINITY, 0.0));
    types.add(new ParameterTypeBoolean(BALANCED, "Let all classes weigh the same.", false, true));
    types.addAll(EngineParameters.types());
    return types;
  }

  private static ParameterType number(ParameterType type) {
    type.setExpert(false);
    return type;
  }
}
