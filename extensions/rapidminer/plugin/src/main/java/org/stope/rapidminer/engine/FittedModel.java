// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.ByteBuffer;
import java.util.Map;

/**
 * A model that an engine holds. It never changes, and outlives the session that made it. RapidMiner closes no model, so
 * an implementation also frees what it holds after the garbage collector has found that nobody can reach it.
 */
public interface FittedModel extends AutoCloseable {
  /**
   * Applies the model to a block: doubles row by row, in the order and with the codes of the model's regular columns.
   * Several blocks may be applied one after the other, in any session of the same engine.
   */
  ResultTable apply(EngineSession session, ByteBuffer block, int rows, Map<String, String> options)
      throws EngineException;

  /** A part of the model as a table: "cuts", "nodes", "components", ... */
  ResultTable part(String name) throws EngineException;

  /** The whole model, for {@link EngineSession#load}. */
  byte[] bytes() throws EngineException;

  /** Gives back the memory of GPUs and of the last block; a later call of apply takes it again. */
  void release();

  /** Frees the model. Later calls fail; closing again does nothing. */
  @Override
  void close();
}
