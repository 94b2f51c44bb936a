package org.stope;

/** How far a job is, at one moment. Immutable. */
public final class Progress {
  private final boolean running;
  private final String phase;
  private final long done;
  private final long total;

  Progress(boolean running, String phase, long done, long total) {
    this.running = running;
    this.phase = phase;
    this.done = done;
    this.total = total;
  }

  /**
   * Says whether a job runs.
   *
   * @return false before the first job and between jobs
   */
  public boolean running() {
    return running;
  }

  /**
   * Names what the job does at the moment.
   *
   * @return a name of at most 31 bytes; "" if no job has run
   */
  public String phase() {
    return phase;
  }

  /**
   * Counts what is done of this phase.
   *
   * @return the number, in the phase's own unit
   */
  public long done() {
    return done;
  }

  /**
   * Counts what the phase has to do.
   *
   * @return the number, in the phase's own unit; 0 if it is not known
   */
  public long total() {
    return total;
  }
}
