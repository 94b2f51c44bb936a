// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.ByteBuffer;

/** A table under construction. It takes rows as doubles, row by row; NaN is missing, nominal columns hold codes. */
public interface RowSink extends AutoCloseable {
  /** Copies the first {@code rows} rows of a block; the block can be filled again afterwards. */
  void append(ByteBuffer block, int rows) throws EngineException;

  @Override
  void close();
}
