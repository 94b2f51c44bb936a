// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Attribute;
import com.rapidminer.example.AttributeRole;
import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.example.table.AttributeFactory;
import com.rapidminer.operator.AbstractModel;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.tools.LogService;
import com.rapidminer.tools.Ontology;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.stope.rapidminer.engine.Blocks;
import org.stope.rapidminer.engine.ColumnHeader;
import org.stope.rapidminer.engine.FittedModel;
import org.stope.rapidminer.engine.ResultTable;
import org.stope.rapidminer.engine.RowSink;
import org.stope.rapidminer.engine.Settings;
import org.stope.rapidminer.engine.Worker;

/** Principal components. Applied, it puts the attributes pc_1, pc_2, ... in the place of the regular ones. */
public class PcaModel extends AbstractModel {
  private static final long serialVersionUID = 1L;

  private final ArrayList<String> names;
  private Settings settings;
  private final HeldModel model;
  private final ResultTable components;
  private transient com.rapidminer.Process process;

  private PcaModel(ExampleSet training, List<String> names, Settings settings, HeldModel model, ResultTable components,
      com.rapidminer.Process process) {
    super(training);
    this.names = new ArrayList<String>(names);
    this.settings = settings;
    this.model = model;
    this.components = components;
    this.process = process;
  }

  static PcaModel fit(Operator operator, final ExampleSet set, final Map<String, String> options)
      throws OperatorException {
    final Columns columns = Columns.numeric(set);
    if (columns.attributes.isEmpty()) {
      throw StopeError.user(operator, "no_numeric_attribute");
    }
    final ResultTable[] components = new ResultTable[1];
    HeldModel model = Work.run(operator, new Work.Body<HeldModel>() {
      @Override
      public HeldModel run(final Worker worker) throws Exception {
        final RowSink table =
            Blocks.load(worker, columns.headers, new ExampleRows(set, columns.attributes), set.size());
        final FittedModel fitted = worker.run(() -> worker.session().fit("pca", table, options));
        HeldModel held = new HeldModel(fitted);
        components[0] = worker.run(() -> fitted.part("components"));
        return held;
      }
    });
    List<String> names = new ArrayList<String>();
    for (ColumnHeader header : columns.headers) {
      names.add(header.name());
    }
    return new PcaModel(set, names, EngineParameters.of(operator), model, components[0], operator.getProcess());
  }

  /** Changes the set that it gets, as RapidMiner's models do, and gives it back. */
  @Override
  public ExampleSet apply(final ExampleSet set) throws OperatorException {
    ModelWatch watch = new ModelWatch(this, process);
    final List<Attribute> attributes = new ArrayList<Attribute>();
    for (String name : names) {
      Attribute attribute = set.getAttributes().get(name);
      if (attribute == null || !attribute.isNumerical()) {
        throw StopeError.user(watch.operator(), attribute == null ? "missing_attribute" : "other_type", name,
            "numeric");
      }
      attributes.add(attribute);
    }
    // Before the first block: there may be no examples.
    final ScoreWriter writer = new ScoreWriter(set, count(components));
    try {
      Work.run(watch.operator(), settings, watch, LogService.getRoot(), new Work.Body<Void>() {
        @Override
        public Void run(final Worker worker) throws Exception {
          FittedModel fitted = worker.run(() -> model.in(worker.session()));
          Blocks.apply(worker, fitted, new ExampleRows(set, attributes), set.size(),
              Collections.<String, String>emptyMap(), writer);
          return null;
        }
      });
    } finally {
      model.release();
    }
    set.getAttributes().clearRegular();
    for (Attribute score : writer.scores) {
      set.getAttributes().addRegular(score);
    }
    return set;
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

  /** The components are the columns pc1, pc2, ... of their table. */
  private static int count(ResultTable components) {
    int count = 0;
    while (components.has("pc" + (count + 1))) {
      count++;
    }
    return count;
  }

  /** The name of a score; a special attribute that stays may have it already. */
  static String scoreName(int component, Set<String> taken) {
    String name = "pc_" + component;
    while (taken.contains(name)) {
      name += "_";
    }
    return name;
  }

  /** Adds the attributes of the scores to the table, and fills them. */
  private static final class ScoreWriter implements Blocks.Results {
    private final List<Attribute> scores = new ArrayList<Attribute>();
    private final Iterator<Example> rows;

    ScoreWriter(ExampleSet set, int components) {
      Set<String> taken = new HashSet<String>();
      Iterator<AttributeRole> special = set.getAttributes().specialAttributes();
      while (special.hasNext()) {
        taken.add(special.next().getAttribute().getName());
      }
      for (int c = 0; c < components; c++) {
        Attribute score = AttributeFactory.createAttribute(scoreName(c + 1, taken), Ontology.REAL);
        set.getExampleTable().addAttribute(score);
        scores.add(score);
      }
      rows = set.iterator();
    }

    @Override
    public void take(ResultTable table, int first, int end) {
      for (int row = first; row < end; row++) {
        Example example = rows.next();
        for (int c = 0; c < table.columns(); c++) {
          example.setValue(scores.get(c), table.column(c)[row]);
        }
      }
    }
  }

  @Override
  public String getName() {
    return "PCA (stope)";
  }

  @Override
  public String toString() {
    return "Principal components of " + names.size() + " attributes (stope)\n\n" + TextTable.of(components);
  }
}
