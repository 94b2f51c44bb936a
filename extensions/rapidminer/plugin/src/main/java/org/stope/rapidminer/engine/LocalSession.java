// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.stope.Column;
import org.stope.ColumnType;
import org.stope.Jobs;
import org.stope.Model;
import org.stope.Options;
import org.stope.Role;
import org.stope.Run;
import org.stope.StopeException;
import org.stope.Table;
import org.stope.TableBuilder;
import org.stope.Warning;

/** A session of the library in this process: one run of stope. */
final class LocalSession implements EngineSession {
  private static final int CPU_BLOCK_ROWS = 4096;
  // What a GPU takes at once; smaller blocks leave it waiting.
  private static final int GPU_BLOCK_ROWS = 33792;

  static final String TOO_LARGE = "The model is larger than 2 GB, the most that RapidMiner can save. Learn it again "
      + "in the process that uses it, or from fewer examples.";

  private final Settings settings;
  private final DeviceReport devices;
  private final Run run;
  private final Set<String> notes = new LinkedHashSet<String>();

  LocalSession(Settings settings, DeviceReport devices) throws EngineException {
    this.settings = settings;
    this.devices = devices;
    run = new Run();
    try {
      run.device(deviceName(settings.device()));
      if (!settings.memoryLimit().isEmpty()) {
        run.memoryLimit(settings.memoryLimit());
      }
    } catch (StopeException error) {
      run.close();
      throw failure(error);
    }
  }

  private static String deviceName(Settings.Device device) {
    switch (device) {
      case CPU:
        return "cpu";
      case GPU:
        return "cuda";
      default:
        return "auto";
    }
  }

  @Override
  public int blockRows() {
    return settings.device() != Settings.Device.CPU && devices.hasGpu() ? GPU_BLOCK_ROWS : CPU_BLOCK_ROWS;
  }

  @Override
  public RowSink rows(List<ColumnHeader> columns, long expectedRows) throws EngineException {
    try {
      return new Sink(columns, expectedRows);
    } catch (StopeException error) {
      throw failure(error);
    }
  }

  @Override
  public FittedModel fit(String kind, RowSink rows, Map<String, String> options) throws EngineException {
    try (Table table = finished(rows)) {
      Model model = withMemory(() -> Model.fit(kind, table, optionsOf(options), run));
      if (kind.equals("classify") || kind.equals("regress")) {
        noteWarnings();  // nothing is searched yet, so where it was "computed" means nothing
      } else {
        note();
      }
      return new LocalModel(model, 8 * table.rows() * table.columns());
    } catch (StopeException error) {
      throw failure(error);
    }
  }

  @Override
  public FittedModel load(byte[] model) throws EngineException {
    try {
      return new LocalModel(withMemory(() -> Model.fromBytes(model, run)), model.length);
    } catch (StopeException error) {
      throw failure(error);
    }
  }

  @Override
  public boolean holds(FittedModel model) {
    return model instanceof LocalModel;
  }

  @Override
  public ResultTable compute(String job, RowSink rows, RowSink other, Map<String, String> options)
      throws EngineException {
    // The sinks once more: finishing the first may fail.
    try (RowSink first = rows; RowSink last = other; Table table = finished(first);
         Table second = last == null ? null : finished(last);
         Table result = withMemory(() -> Jobs.compute(job, table, second, optionsOf(options), run))) {
      note();
      return resultOf(result);
    } catch (StopeException error) {
      throw failure(error);
    }
  }

  /** Tables and models of earlier folds may wait for the garbage collector: if memory is short, it gets one chance. */
  static <T> T withMemory(Supplier<T> job) {
    try {
      return job.get();
    } catch (StopeException error) {
      if (error.code() != StopeException.Code.OUT_OF_MEMORY) {
        throw error;
      }
    }
    System.gc();
    return job.get();
  }

  private static Table finished(RowSink rows) {
    try (Sink sink = (Sink) rows) {
      return sink.builder.finish();
    }
  }

  private static Options optionsOf(Map<String, String> options) {
    Options all = new Options();
    for (Map.Entry<String, String> option : options.entrySet()) {
      all.set(option.getKey(), option.getValue());
    }
    return all;
  }

  /** Keeps what the report of the last job says; a thousand blocks say it once. */
  private void note() {
    String where = devices.where(run.report(), settings.device());
    if (where != null) {
      notes.add(where);
    }
    noteWarnings();
  }

  private void noteWarnings() {
    for (Warning warning : run.warnings()) {
      notes.add(warning.text());
    }
  }

  @Override
  public void cancel() {
    run.cancel();
  }

  @Override
  public Progress progress() {
    org.stope.Progress now = run.progress();
    return now.running() ? new Progress(now.phase(), now.done(), now.total()) : Progress.NONE;
  }

  @Override
  public List<String> notes() {
    return new ArrayList<String>(notes);
  }

  @Override
  public void close() {
    run.close();
  }

  private static ResultTable resultOf(Table table) {
    int columns = table.columns();
    List<Column> schema = table.schema();
    String[] names = new String[columns];
    String[][] values = new String[columns][];
    double[][] numbers = new double[columns][];
    for (int c = 0; c < columns; c++) {
      names[c] = schema.get(c).name();
      values[c] = isNominal(schema.get(c).type()) ? schema.get(c).values().toArray(new String[0]) : null;
      numbers[c] = table.column(c);
    }
    return new ResultTable(names, values, numbers);
  }

  private static boolean isNominal(ColumnType type) {
    return type == ColumnType.NOMINAL || type == ColumnType.POLYNOMINAL || type == ColumnType.BINOMINAL;
  }

  static EngineException failure(StopeException error) {
    return new EngineException(kindOf(error.code()), error.getMessage(), error, error.bytes());
  }

  private static EngineException.Kind kindOf(StopeException.Code code) {
    switch (code) {
      case OUT_OF_MEMORY:
        return EngineException.Kind.MEMORY;
      case DEVICE_UNAVAILABLE:
        return EngineException.Kind.NO_GPU;
      case DEVICE_LOST:
        return EngineException.Kind.GPU_LOST;
      case CANCELLED:
        return EngineException.Kind.CANCELLED;
      case INTERNAL:
      case IO:
        return EngineException.Kind.INTERNAL;
      default:
        return EngineException.Kind.UNSUITABLE;
    }
  }

  private static final class Sink implements RowSink {
    private final TableBuilder builder;

    Sink(List<ColumnHeader> columns, long expectedRows) {
      builder = new TableBuilder(expectedRows);
      try {
        for (ColumnHeader column : columns) {
          builder.column(column.name(), Role.valueOf(column.role().name()), ColumnType.valueOf(column.type().name()),
              column.values());
        }
      } catch (StopeException error) {
        builder.close();
        throw error;
      }
    }

    @Override
    public void append(ByteBuffer block, int rows) throws EngineException {
      try {
        builder.append(block, rows);
      } catch (StopeException error) {
        throw failure(error);
      }
    }

    @Override
    public void close() {
      builder.close();
    }
  }

  /** stope's own cleaner frees the native model once this object cannot be reached. */
  private static final class LocalModel implements FittedModel {
    private final Model model;
    private TableBuilder builder;

    LocalModel(Model model, long bytes) {
      this.model = model;
      NativeMemory.INSTANCE.add(this, bytes);
    }

    @Override
    public synchronized ResultTable apply(EngineSession session, ByteBuffer block, int rows,
        Map<String, String> options) throws EngineException {
      LocalSession local = (LocalSession) session;
      try {
        if (builder == null) {
          builder = TableBuilder.forModel(model, rows);
        }
        builder.append(block, rows);
        try (Table queries = builder.finish();
             Table result = withMemory(() -> model.apply(queries, optionsOf(options), local.run))) {
          local.note();
          return resultOf(result);
        }
      } catch (StopeException error) {
        dropBuilder();
        throw failure(error);
      }
    }

    // Rows of a failed block must not be in the next one.
    private void dropBuilder() {
      if (builder != null) {
        builder.close();
        builder = null;
      }
    }

    @Override
    public ResultTable part(String name) throws EngineException {
      try (Table table = model.table(name)) {
        return resultOf(table);
      } catch (StopeException error) {
        throw failure(error);
      }
    }

    @Override
    public byte[] bytes() throws EngineException {
      try {
        return model.toBytes();
      } catch (StopeException error) {
        if (error.code() == StopeException.Code.UNSUPPORTED) {
          throw new EngineException(EngineException.Kind.UNSUITABLE, TOO_LARGE, error);
        }
        throw failure(error);
      }
    }

    @Override
    public synchronized void release() {
      dropBuilder();
      model.releaseDevices();
    }

    @Override
    public synchronized void close() {
      dropBuilder();
      model.close();
    }
  }
}
