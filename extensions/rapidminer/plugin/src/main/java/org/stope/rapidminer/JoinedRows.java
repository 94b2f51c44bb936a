// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import java.nio.DoubleBuffer;
import org.stope.rapidminer.engine.BlockSource;

/** The rows of a model, then new rows, which come as features and label. */
final class JoinedRows implements BlockSource {
  private final BlockSource first;
  private final BlockSource features;
  private final BlockSource label;

  JoinedRows(BlockSource first, BlockSource features, BlockSource label) {
    this.first = first;
    this.features = features;
    this.label = label;
  }

  @Override
  public int columns() {
    return features.columns() + label.columns();
  }

  @Override
  public int next(DoubleBuffer to, int most) {
    int taken = first.next(to, most);
    while (taken < most && features.next(to, 1) == 1) {
      label.next(to, 1);
      taken++;
    }
    return taken;
  }
}
