// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorException;
import org.stope.rapidminer.engine.Progress;
import org.stope.rapidminer.engine.Watch;

/** Stops a job when the user stops the process of its operator. */
final class OperatorWatch implements Watch {
  private final Operator operator;
  private final ProgressBar bar;

  OperatorWatch(Operator operator) {
    this(operator, ProgressBar.of(operator));
  }

  OperatorWatch(Operator operator, ProgressBar bar) {
    this.operator = operator;
    this.bar = bar;
  }

  @Override
  public void look(Progress progress) throws OperatorException {
    operator.checkForStop();
    bar.show(progress.share());
  }
}
