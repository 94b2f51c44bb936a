// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

/** How far a job is: a phase, and how much of it is done, in the phase's own unit. */
public final class Progress {
  public static final Progress NONE = new Progress("", 0, 0);

  private final String phase;
  private final long done;
  private final long total;

  /** {@code total} 0 means that it is not known. */
  public Progress(String phase, long done, long total) {
    this.phase = phase;
    this.done = done;
    this.total = total;
  }

  public String phase() {
    return phase;
  }

  /** The same as a part of a larger whole, which it takes from one share to another. */
  Progress within(double from, double to) {
    final long steps = 1000000;
    return new Progress(phase, (long) ((from + (to - from) * share()) * steps), steps);
  }

  /** From 0 to 1; 0 where the total is not known. */
  public double share() {
    return total <= 0 ? 0 : Math.min(1, (double) done / total);
  }
}
