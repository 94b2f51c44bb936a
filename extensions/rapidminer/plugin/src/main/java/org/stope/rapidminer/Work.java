// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorException;
import java.util.logging.Logger;
import org.stope.rapidminer.engine.EngineException;
import org.stope.rapidminer.engine.EngineSession;
import org.stope.rapidminer.engine.Engines;
import org.stope.rapidminer.engine.Settings;
import org.stope.rapidminer.engine.Watch;
import org.stope.rapidminer.engine.Worker;

/** Runs a piece of work in a session of the engine, and tells RapidMiner how it went. */
final class Work {
  private Work() {}

  /** What is done in the session, on the operator's thread. */
  interface Body<T> {
    T run(Worker worker) throws Exception;
  }

  /** {@code operator} may be null. Notes of the engine go to the log, also those of a failed job. */
  static <T> T run(Operator operator, Settings settings, Watch watch, Logger log, Body<T> body)
      throws OperatorException {
    EngineSession session;
    try {
      session = Engines.of(settings).open(settings);
    } catch (EngineException error) {
      throw StopeError.of(operator, error);
    }
    try (Worker worker = new Worker(session, watch)) {
      try {
        return body.run(worker);
      } finally {
        for (String note : session.notes()) {
          log.info("stope: " + note);
        }
      }
    } catch (Exception error) {
      throw StopeError.of(operator, error);
    }
  }

  /** The work of an operator: it can be stopped, and shows its progress where this RapidMiner can. */
  static <T> T run(Operator operator, Body<T> body) throws OperatorException {
    return run(operator, EngineParameters.of(operator), new OperatorWatch(operator), operator.getLogger(), body);
  }
}
