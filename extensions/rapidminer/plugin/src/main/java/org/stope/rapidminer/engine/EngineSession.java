// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.util.List;
import java.util.Map;

/**
 * One piece of work. One thread at a time calls a session, except for {@link #cancel} and {@link #progress}, which any
 * thread may call at any time.
 */
public interface EngineSession extends AutoCloseable {
  /** How many rows a block should have: enough to keep the device busy that computes. */
  int blockRows();

  /** A table that is filled block by block. {@code expectedRows} 0 means that the number is not known. */
  RowSink rows(List<ColumnHeader> columns, long expectedRows) throws EngineException;

  /** Fits a model to the rows of a sink, which this closes. */
  FittedModel fit(String kind, RowSink rows, Map<String, String> options) throws EngineException;

  /** Reads what {@link FittedModel#bytes} has written. */
  FittedModel load(byte[] model) throws EngineException;

  /** Whether the model can be applied in this session; {@link #load} can bring another one here. */
  boolean holds(FittedModel model);

  /** A job that makes a table of one table or two ({@code other} may be null); closes its sinks. */
  ResultTable compute(String job, RowSink rows, RowSink other, Map<String, String> options) throws EngineException;

  /** Ends what runs, within a second, with an error of kind CANCELLED. */
  void cancel();

  /** What is done of what runs; {@link Progress#NONE} if nothing runs. */
  Progress progress();

  /** What the user should know of the work so far: where it was computed, and warnings. */
  List<String> notes();

  @Override
  void close();
}
