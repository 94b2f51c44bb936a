// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

/** Why a job failed, in the engine's words; {@link Kind} says what a user can do about it. */
public final class EngineException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Each kind but CANCELLED has a text in UserErrors.properties: error.stope.KIND in lower case. */
  public enum Kind {
    /** The data or a parameter does not suit the job. */
    UNSUITABLE,
    /** The memory limit, or the machine's memory, is too small. */
    MEMORY,
    /** A GPU was asked for, and there is none. */
    NO_GPU,
    /** A GPU failed in the middle of a job. */
    GPU_LOST,
    /** The native library cannot be loaded. */
    NO_LIBRARY,
    /** A server was asked for, and it cannot be reached or understood. */
    NO_SERVER,
    /** The server does not let this user in, or this Java does not trust the server. */
    NO_ACCESS,
    /** The user has stopped the process. */
    CANCELLED,
    /** A defect of stope. */
    INTERNAL
  }

  private final Kind kind;
  private final long bytes;

  public EngineException(Kind kind, String message, Throwable cause) {
    this(kind, message, cause, 0);
  }

  /** {@code bytes}: a memory limit that would do; 0 if it is not known. */
  public EngineException(Kind kind, String message, Throwable cause, long bytes) {
    super(message, cause);
    this.kind = kind;
    this.bytes = bytes;
  }

  public Kind kind() {
    return kind;
  }

  public long bytes() {
    return bytes;
  }
}
