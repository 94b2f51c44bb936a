// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer;

import com.rapidminer.operator.Operator;
import com.rapidminer.operator.OperatorException;
import com.rapidminer.operator.ProcessStoppedException;
import com.rapidminer.operator.UserError;
import java.util.Locale;
import org.stope.rapidminer.engine.EngineException;

/** Turns failures into what RapidMiner shows. The texts are in UserErrors.properties. */
final class StopeError {
  private static final String PREFIX = "stope.";

  private StopeError() {}

  /** {@code operator} may be null: a model does not know who applies it. */
  static UserError user(Operator operator, String id, Object... arguments) {
    return new UserError(operator, PREFIX + id, arguments);
  }

  static OperatorException of(Operator operator, EngineException error) {
    if (error.kind() == EngineException.Kind.CANCELLED) {
      return stopped(operator);
    }
    String id = PREFIX + idOf(error.kind());
    return new UserError(operator, error, id, error.getMessage(), advice(error));
  }

  /** Passes on what RapidMiner knows, and wraps what it does not. */
  static OperatorException of(Operator operator, Exception error) {
    if (error instanceof EngineException) {
      return of(operator, (EngineException) error);
    }
    if (error instanceof OperatorException) {
      return (OperatorException) error;
    }
    if (error instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return stopped(operator);
    }
    if (error instanceof RuntimeException) {
      throw (RuntimeException) error;
    }
    return new OperatorException(String.valueOf(error.getMessage()), error);
  }

  static String idOf(EngineException.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private static OperatorException stopped(Operator operator) {
    // ProcessStoppedException asks the operator for its name.
    return operator != null ? new ProcessStoppedException(operator) : new OperatorException("The process was stopped.");
  }

  static String advice(EngineException error) {
    if (error.kind() != EngineException.Kind.MEMORY || error.bytes() <= 0) {
      return "";
    }
    long megabytes = (error.bytes() + 999999) / 1000000;
    return "It needs at least " + megabytes + "MB.";
  }
}
