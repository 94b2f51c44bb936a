package org.stope;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * How jobs run: threads, memory limit, device. It is also where they are watched and cancelled, and what they tell
 * afterwards. Jobs of one run follow each other: a second job at the same time is refused. {@link #cancel()}, {@link
 * #progress()}, {@link #report()} and {@link #warnings()} may be called by any thread at any time.
 *
 * <p>An interrupt of the thread that is inside a job cancels that job alone. The run can be used again, and keeps its
 * report and its warnings.
 */
public final class Run extends NativeObject {
  // Held while a cancel is made or taken back, so that taking back an interrupt's never loses one of cancel().
  private final Object cancelling = new Object();
  private boolean cancelled; // guarded by cancelling
  private boolean busy; // guarded by this, as is the next
  private boolean interrupted;

  /**
   * Makes a run with the engine's defaults: all threads, all memory, and the device that is best for each job.
   *
   * @throws StopeException UNSUPPORTED if this machine has no native library of stope
   */
  public Run() {
    super(Native.RUN, newHandle());
  }

  private static long newHandle() {
    NativeLibrary.require();
    return Native.runNew();
  }

  /**
   * Sets the number of CPU threads.
   *
   * @param threads the number; 0 stands for all
   * @return this
   */
  public Run threads(int threads) {
    return set("threads", Integer.toString(threads), "threads");
  }

  /**
   * Sets how much memory a job may take. A job that needs more throws OUT_OF_MEMORY and says how much would do.
   *
   * @param bytes the limit
   * @return this
   */
  public Run memoryLimit(long bytes) {
    return set("memory_limit", Long.toString(bytes), "bytes");
  }

  /**
   * Sets how much memory a job may take.
   *
   * @param size for instance "2GB" or "512MiB"
   * @return this
   */
  public Run memoryLimit(String size) {
    return set("memory_limit", size, "size");
  }

  /**
   * Sets where jobs run.
   *
   * @param device "auto", "cpu", "cuda", "cuda:0,1" or "cuda:GPU-UUID"
   * @return this
   */
  public Run device(String device) {
    return set("device", device, "device");
  }

  private Run set(String name, String value, String parameter) {
    byte[] text = Text.utf8(value, parameter);
    long run = begin();
    try {
      Native.runSet(run, Text.utf8(name, "name"), text);
    } finally {
      end(false);
    }
    return this;
  }

  /**
   * Ends the job of this run, and those to come until {@link #reset()}, with CANCELLED within half a second. A run that is
   * closed has no jobs to come: cancelling it does nothing.
   */
  public void cancel() {
    long run = handle.enterIfOpen();
    if (run == 0) {
      return;
    }
    try {
      synchronized (cancelling) {
        cancelled = true;
        Native.runCancel(run);
      }
    } finally {
      handle.exit();
    }
  }

  /** Makes the run as it was before its first job: it is not cancelled and has no report and no warnings. */
  public void reset() {
    long run = begin();
    try {
      synchronized (cancelling) {
        Native.runReset(run);
        cancelled = false;
      }
    } finally {
      end(false);
    }
  }

  /**
   * Says how far the job is.
   *
   * @return the state of this moment
   */
  public Progress progress() {
    byte[] phase = new byte[32];
    long[] doneAndTotal = new long[2];
    long run = handle.enter();
    try {
      boolean running = Native.runProgress(run, phase, doneAndTotal) == 1;
      int end = 0;
      while (end < phase.length && phase[end] != 0) {
        ++end;
      }
      return new Progress(
          running, Text.string(java.util.Arrays.copyOf(phase, end)), doneAndTotal[0], doneAndTotal[1]);
    } finally {
      handle.exit();
    }
  }

  /**
   * Tells what the last job that has succeeded did: method, device, counts, times.
   *
   * @return one JSON object; "{}" before the first job
   * @throws StopeException INVALID_ARGUMENT if the run is closed
   */
  public String report() {
    long run = handle.enter();
    try {
      return Text.string(Native.runReport(run));
    } finally {
      handle.exit();
    }
  }

  /**
   * Tells all warnings since the run was made or reset. Those of a job that runs follow when it has ended.
   *
   * @return the warnings in their order
   * @throws StopeException INVALID_ARGUMENT if the run is closed
   */
  public List<Warning> warnings() {
    long run = handle.enter();
    String json;
    try {
      json = Text.string(Native.runWarnings(run));
    } finally {
      handle.exit();
    }
    List<Warning> warnings = new ArrayList<>();
    for (Map<String, Object> warning : Json.objects(json.isEmpty() ? "[]" : json)) {
      warnings.add(new Warning(String.valueOf(warning.get("code")), String.valueOf(warning.get("text"))));
    }
    return Collections.unmodifiableList(warnings);
  }

  /** Takes the run for one call. */
  synchronized long begin() {
    if (busy) {
      throw Arguments.wrong(
          "run", "the run is in use: another thread is inside a job of it, and a run has one job at a time");
    }
    long run = handle.enter();
    try {
      synchronized (cancelling) {
        if (interrupted && !cancelled) {
          Native.runResume(run); // An interrupt was meant for its own job only.
        }
      }
      interrupted = false;
      busy = true;
      return run;
    } finally {
      if (!busy) {
        handle.exit();
      }
    }
  }

  /** Gives the run back. */
  synchronized void end(boolean interruptedMeanwhile) {
    interrupted |= interruptedMeanwhile;
    busy = false;
    handle.exit();
  }
}
