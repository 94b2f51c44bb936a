// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import java.lang.reflect.Method;

/**
 * The progress bar of an operator, which RapidMiner has since 7.0. It is called by reflection, so that one jar runs on
 * older versions, too: there nothing is shown.
 */
final class ProgressBar {
  private static final int STEPS = 100;

  private final Object progress;
  private final Method setCompleted;

  private ProgressBar(Object progress, Method setCompleted) {
    this.progress = progress;
    this.setCompleted = setCompleted;
  }

  /** Shows nothing. */
  static ProgressBar none() {
    return new ProgressBar(null, null);
  }

  static ProgressBar of(Object operator) {
    try {
      Object progress = operator.getClass().getMethod("getProgress").invoke(operator);
      progress.getClass().getMethod("setTotal", int.class).invoke(progress, STEPS);
      return new ProgressBar(progress, progress.getClass().getMethod("setCompleted", int.class));
    } catch (ReflectiveOperationException olderRapidMiner) {
      return none();
    }
  }

  /** {@code share}: from 0 to 1. */
  void show(double share) throws com.rapidminer.operator.OperatorException {
    if (progress == null) {
      return;
    }
    try {
      setCompleted.invoke(progress, (int) (share * STEPS));
    } catch (java.lang.reflect.InvocationTargetException thrown) {
      // setCompleted() throws where the user has stopped the process.
      if (thrown.getCause() instanceof com.rapidminer.operator.OperatorException) {
        throw (com.rapidminer.operator.OperatorException) thrown.getCause();
      }
    } catch (IllegalAccessException hidden) {
      // The bar stays as it is; the job goes on.
    }
  }
}
