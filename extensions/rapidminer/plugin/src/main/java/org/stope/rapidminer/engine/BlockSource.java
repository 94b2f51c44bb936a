// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.DoubleBuffer;

/** Rows that come one after the other. The thread that made a source reads it. */
public interface BlockSource {
  int columns();

  /** Puts up to {@code most} rows into the buffer and says how many; 0 at the end, and from then on. */
  int next(DoubleBuffer to, int most);
}
