// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.Process;
import com.rapidminer.example.Attribute;
import com.rapidminer.example.Attributes;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.learner.UpdateablePredictionModel;
import com.rapidminer.tools.LogService;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.stope.rapidminer.engine.Blocks;
import org.stope.rapidminer.engine.ColumnHeader;
import org.stope.rapidminer.engine.FittedModel;
import org.stope.rapidminer.engine.ResultTable;
import org.stope.rapidminer.engine.RowSink;
import org.stope.rapidminer.engine.Settings;
import org.stope.rapidminer.engine.Worker;

/**
 * What k-NN (stope) learns. It is saved in repositories as the bytes of stope's model, with the header that every
 * prediction model of RapidMiner has; Apply Model applies it.
 */
public class KnnModel extends UpdateablePredictionModel {
  private static final long serialVersionUID = 1L;

  private KnnColumns columns;
  private final HashMap<String, String> options;
  private Settings settings;
  private final HeldModel model;
  private int rows;
  private String warning;
  private transient Process process;

  private KnnModel(ExampleSet training, KnnColumns columns, Map<String, String> options, Settings settings,
      HeldModel model, String warning, Process process) {
    super(training);
    this.columns = columns;
    this.options = new HashMap<String, String>(options);
    this.settings = settings;
    this.model = model;
    this.rows = training.size();
    this.warning = warning;
    this.process = process;
  }

  static KnnModel learn(Operator operator, final ExampleSet set, KnnColumns columns, final Map<String, String> options,
      Settings settings, String warning) throws OperatorException {
    final Attribute label = set.getAttributes().getLabel();
    final List<Attribute> attributes = new ArrayList<Attribute>();
    for (Attribute attribute : set.getAttributes()) {
      attributes.add(attribute);
    }
    attributes.add(label);
    final List<ColumnHeader> headers = new ArrayList<ColumnHeader>(columns.headers());
    headers.add(KnnColumns.label(label));
    HeldModel model = Work.run(operator, new Work.Body<HeldModel>() {
      @Override
      public HeldModel run(Worker worker) throws Exception {
        RowSink table = Blocks.load(worker, headers, new ExampleRows(set, attributes), set.size());
        return fit(worker, table, label.isNominal(), options);
      }
    });
    return new KnnModel(set, columns, options, settings, model, warning, operator.getProcess());
  }

  private static HeldModel fit(final Worker worker, final RowSink table, final boolean classes,
      final Map<String, String> options) throws Exception {
    return new HeldModel(worker.run(() -> worker.session().fit(kind(classes), table, options)));
  }

  private static String kind(boolean classes) {
    return classes ? "classify" : "regress";
  }

  /** The parameters "device", "memory_limit" and "server", as Apply Model's application parameters. */
  @Override
  public void setParameter(String key, Object value) throws OperatorException {
    if (EngineParameters.has(key)) {
      settings = EngineParameters.with(settings, key, String.valueOf(value));
    } else {
      super.setParameter(key, value);
    }
  }

  @Override
  public ExampleSet performPrediction(final ExampleSet set, final Attribute predicted) throws OperatorException {
    ModelWatch watch = new ModelWatch(this, process);
    MatchCheck.check(watch.operator(), columns, set);
    final Map<String, String> how = new HashMap<String, String>();
    if (predicted.isNominal()) {
      how.put("proba", "true");
    }
    try {
      Work.run(watch.operator(), settings, watch, LogService.getRoot(), new Work.Body<Void>() {
        @Override
        public Void run(Worker worker) throws Exception {
          FittedModel fitted = worker.run(() -> model.in(worker.session()));
          Blocks.apply(worker, fitted, new KnnQueries(columns, set), set.size(), how,
              new PredictionWriter(set, predicted));
          return null;
        }
      });
    } finally {
      // A cross-validation makes a model a fold and closes none; the next fold needs the memory.
      model.release();
    }
    return set;
  }

  /** Writes predictions and confidences into the rows, block by block. */
  private static final class PredictionWriter implements Blocks.Results {
    private final Iterator<Example> rows;
    private final Attribute predicted;
    private final List<Attribute> confidences = new ArrayList<Attribute>();

    PredictionWriter(ExampleSet set, Attribute predicted) {
      this.rows = set.iterator();
      this.predicted = predicted;
      if (predicted.isNominal()) {
        for (String value : predicted.getMapping().getValues()) {
          confidences.add(set.getAttributes().getSpecial(Attributes.CONFIDENCE_NAME + "_" + value));
        }
      }
    }

    @Override
    public void take(ResultTable table, int first, int end) {
      double[] prediction = table.column(0);
      int learned = table.columns() - 1;
      for (int row = first; row < end; row++) {
        Example example = rows.next();
        boolean more = confidences.size() > learned;
        example.setValue(predicted, more ? best(table, row, learned) : prediction[row]);
        for (int c = 0; c < confidences.size(); c++) {
          if (confidences.get(c) != null) {
            example.setValue(confidences.get(c), c < learned ? table.column(1 + c)[row] : 0.0);
          }
        }
      }
    }

    /** The label has got classes since the training. They have confidence 0, which wins where all others are less. */
    private static double best(ResultTable table, int row, int learned) {
      int best = learned;
      double most = Double.NEGATIVE_INFINITY;
      for (int c = 0; c < learned; c++) {
        if (table.column(1 + c)[row] > most) {
          most = table.column(1 + c)[row];
          best = c;
        }
      }
      return most < 0 ? learned : best;
    }
  }

  /** Adds rows behind the ones that are there. The engine fits all rows again: an update costs as much as learning. */
  @Override
  public void update(final ExampleSet set) throws OperatorException {
    ModelWatch watch = new ModelWatch(this, process);
    final Attribute label = set.getAttributes().getLabel();
    if (label == null) {
      throw StopeError.user(watch.operator(), "no_label");
    }
    if (label.isNominal() != getLabel().isNominal()) {
      LogService.getRoot().warning("stope: the label of the new examples is "
          + (label.isNominal() ? "nominal" : "numeric") + " and that of the model is not, so the model stays "
          + "as it is, as with the operator k-NN.");
      return;
    }
    MatchCheck.check(watch.operator(), columns, set);
    final KnnColumns grown = columns.with(set);
    final List<ColumnHeader> headers = new ArrayList<ColumnHeader>(grown.headers());
    headers.add(KnnColumns.label(getLabel()));
    final List<Attribute> labels = Collections.singletonList(label);
    Work.run(watch.operator(), settings, watch, LogService.getRoot(), new Work.Body<Void>() {
      @Override
      public Void run(Worker worker) throws Exception {
        FittedModel before = worker.run(() -> model.in(worker.session()));
        ResultTable old = worker.run(() -> before.part("train"));
        RowSink table = Blocks.load(worker, headers,
            new JoinedRows(new TableRows(old), new KnnQueries(grown, set), new ExampleRows(set, labels)),
            (long) old.rows() + set.size());
        final boolean classes = getLabel().isNominal();
        model.replace(worker.run(() -> worker.session().fit(kind(classes), table, options)));
        return null;
      }
    });
    columns = grown;
    rows += set.size();
    warning = Integer.parseInt(options.get("n_neighbors")) > rows ? warning : "";
  }

  @Override
  public String getName() {
    return "k-NN (stope)";
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(options.get("n_neighbors")).append("-nearest-neighbour model (stope) for ");
    text.append(getLabel().isNominal() ? "classification" : "regression").append('\n');
    text.append("Measure: ").append(options.get("metric")).append('\n');
    text.append("Votes: ").append(options.get("weights").equals("distance") ? "weighted by distance" : "equal");
    text.append('\n').append(rows).append(" examples, ").append(columns.size()).append(" attributes\n");
    if (getLabel().isNominal()) {
      text.append("Classes: ");
      String separator = "";
      for (String value : getLabel().getMapping().getValues()) {
        text.append(separator).append(value);
        separator = ", ";
      }
      text.append('\n');
    }
    if (!warning.isEmpty()) {
      text.append('\n').append(warning).append('\n');
    }
    return text.toString();
  }
}
