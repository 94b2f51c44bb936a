// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.Process;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.ProcessStoppedException;
import org.stope.rapidminer.engine.Progress;
import org.stope.rapidminer.engine.Watch;

/**
 * Stops the application of a model. RapidMiner 9 tells a model which operator applies it. Older versions do not: there
 * the process that learned the model is asked while it runs, else the process that the window shows.
 */
final class ModelWatch implements Watch {
  private final Operator operator;
  private final Process process;
  private final Watch ofOperator;

  ModelWatch(Model model, Process learner) {
    operator = operatorOf(model);
    ofOperator = operator == null ? null
        : new OperatorWatch(operator, showsProgress(model) ? ProgressBar.of(operator) : ProgressBar.none());
    // A process that has ended says that it should stop; it is no longer the one that runs.
    process = learner != null && !learner.shouldStop() ? learner : shown();
  }

  /** The operator that applies the model; null if that is not known. */
  Operator operator() {
    return operator;
  }

  @Override
  public void look(Progress progress) throws Exception {
    if (ofOperator != null) {
      ofOperator.look(progress);
    } else if (process != null && process.shouldStop()) {
      Operator current = process.getCurrentOperator();
      throw current != null ? new ProcessStoppedException(current) : new OperatorException("The process was stopped.");
    }
  }

  // An operator that applies several models, one after the other, has one bar for all of them.
  static boolean showsProgress(Object model) {
    try {
      return (Boolean) model.getClass().getMethod("getShowProgress").invoke(model);
    } catch (ReflectiveOperationException olderRapidMiner) {
      return false;
    }
  }

  private static Operator operatorOf(Model model) {
    try {
      return (Operator) model.getClass().getMethod("getOperator").invoke(model);
    } catch (ReflectiveOperationException olderRapidMiner) {
      return null;
    }
  }

  // There is no window, and no such class is loaded, where RapidMiner runs without one.
  private static Process shown() {
    if (java.awt.GraphicsEnvironment.isHeadless()) {
      return null;
    }
    try {
      Object frame = Class.forName("com.rapidminer.gui.RapidMinerGUI").getMethod("getMainFrame").invoke(null);
      Process process = frame == null ? null : (Process) frame.getClass().getMethod("getProcess").invoke(frame);
      return process == null || process.shouldStop() ? null : process;
    } catch (ReflectiveOperationException | LinkageError noWindow) {
      return null;
    }
  }
}
