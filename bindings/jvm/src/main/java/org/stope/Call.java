package org.stope;

import java.util.ArrayList;
import java.util.List;

/**
 * One call into the engine: the handles it uses, its options, its run. Closing it lets go of them. A thread's interrupt
 * cancels a call that has a run.
 */
final class Call implements AutoCloseable {
  private final List<Handle> used = new ArrayList<>(4);
  private final Run given;
  private final long run;
  private long ownRun;
  private long options;
  private Watcher.Job job;

  private Call(Options options, Run run, boolean isJob) {
    NativeLibrary.require();
    if (isJob && Thread.currentThread().isInterrupted()) {
      throw new StopeException(StopeException.Code.CANCELLED, "the thread was interrupted before the call");
    }
    this.given = run;
    long number = 0;
    boolean done = false;
    try {
      if (run != null) {
        number = run.begin();
      } else if (isJob) {
        number = ownRun = Native.runNew();
      }
      if (options != null) {
        this.options = options.toNative();
      }
      if (isJob) {
        job = Watcher.begin(number);
      }
      done = true;
    } finally {
      this.run = number;
      if (!done) {
        release(number != 0);
      }
    }
  }

  /** A call that may take long. */
  static Call job(Options options, Run run) {
    return new Call(options, run, true);
  }

  /** A call that is over at once: nothing cancels it. */
  static Call brief() {
    return new Call(null, null, false);
  }

  /** The number of an argument's handle, which stays until the call is closed. */
  long use(NativeObject object, String parameter) {
    long number = Arguments.required(object, parameter).handle.enter(parameter);
    used.add(object.handle);
    return number;
  }

  /** The number of the handle of the object whose function is called. */
  long useThis(NativeObject object) {
    long number = object.handle.enter();
    used.add(object.handle);
    return number;
  }

  long run() {
    return run;
  }

  long options() {
    return options;
  }

  @Override
  public void close() {
    release(true);
  }

  private void release(boolean begun) {
    boolean interrupted = job != null && Watcher.end(job);
    if (options != 0) {
      Native.free(Native.OPTIONS, options);
    }
    if (ownRun != 0) {
      Native.free(Native.RUN, ownRun);
    }
    if (given != null && begun) {
      given.end(interrupted);
    }
    for (Handle handle : used) {
      handle.exit();
    }
  }
}
