// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A model has a bar only where RapidMiner 9 says so; RapidMiner 5.3 says nothing. */
final class ModelWatchTest {
  /** A model as in RapidMiner 9. */
  public static final class Shown {
    private final boolean shown;

    Shown(boolean shown) {
      this.shown = shown;
    }

    public boolean getShowProgress() {
      return shown;
    }
  }

  @Test
  void theModelDecides() {
    assertTrue(ModelWatch.showsProgress(new Shown(true)));
    assertFalse(ModelWatch.showsProgress(new Shown(false)));
    assertFalse(ModelWatch.showsProgress("a model of RapidMiner 5.3"));
  }
}
