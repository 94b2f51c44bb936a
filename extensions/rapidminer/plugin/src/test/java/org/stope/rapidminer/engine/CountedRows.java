// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.nio.DoubleBuffer;

/** Rows (r, 10 r), and the thread that read them. */
final class CountedRows implements BlockSource {
  private final int rows;
  private int next;
  Thread reader;

  CountedRows(int rows) {
    this.rows = rows;
  }

  @Override
  public int columns() {
    return 2;
  }

  @Override
  public int next(DoubleBuffer to, int most) {
    reader = Thread.currentThread();
    int taken = 0;
    while (taken < most && next < rows) {
      to.put(next).put(10.0 * next);
      next++;
      taken++;
    }
    return taken;
  }
}
