// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.example.Example;
import com.rapidminer.example.ExampleSet;
import java.nio.DoubleBuffer;
import java.util.Iterator;
import org.stope.rapidminer.engine.BlockSource;

/** One pass over the rows of an example set, in its own order. */
abstract class ExampleSource implements BlockSource {
  private final Iterator<Example> rows;
  // hasNext() of a filtered or sampled set may say true again after it has said false.
  private boolean ended;

  ExampleSource(ExampleSet set) {
    rows = set.iterator();
  }

  /** Puts the numbers of one row. */
  abstract void put(Example example, DoubleBuffer to);

  @Override
  public final int next(DoubleBuffer to, int most) {
    int taken = 0;
    while (taken < most && !ended) {
      if (!rows.hasNext()) {
        ended = true;
        break;
      }
      put(rows.next(), to);
      taken++;
    }
    return taken;
  }
}
