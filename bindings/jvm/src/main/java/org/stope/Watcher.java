package org.stope;

import java.util.ArrayList;
import java.util.List;

/**
 * Turns the interrupt of a thread that is inside a job into the cancellation of its run. One daemon thread looks at all
 * jobs every few milliseconds. It ends when there was no job for a second, because a running thread would keep the class
 * loader of a plug-in alive. It calls into native code, and native code never calls back.
 */
final class Watcher implements Runnable {
  private static final long TICK_MILLIS = 25;
  private static final int IDLE_TICKS = 40;

  private static final Object LOCK = new Object();
  private static final List<Job> JOBS = new ArrayList<>();
  private static Thread thread;

  private Watcher() {}

  /** A thread inside a call. */
  static final class Job {
    private final Thread caller = Thread.currentThread();
    private final long run;
    private boolean interrupted;

    private Job(long run) {
      this.run = run;
    }
  }

  static Job begin(long run) {
    Job job = new Job(run);
    synchronized (LOCK) {
      JOBS.add(job);
      if (thread == null) {
        thread = start();
      }
    }
    return job;
  }

  /** Returns whether an interrupt has cancelled the run. Afterwards the watcher leaves the run alone. */
  static boolean end(Job job) {
    synchronized (LOCK) {
      JOBS.remove(job);
      return job.interrupted;
    }
  }

  /** Whether the thread lives, for tests. */
  static boolean alive() {
    synchronized (LOCK) {
      return thread != null;
    }
  }

  private static Thread start() {
    try {
      Thread watcher = new Thread(new Watcher(), "stope-watcher");
      watcher.setDaemon(true);
      leaveHost(watcher);
      watcher.start();
      return watcher;
    } catch (OutOfMemoryError e) {
      return null; // The machine has no thread to spare. The job goes on; the next one tries again.
    }
  }

  private static void leaveHost(Thread watcher) {
    try {
      watcher.setContextClassLoader(null); // The one of the caller may be a plug-in's.
    } catch (SecurityException e) {
      // A sandbox may forbid it. The thread ends soon, and the class loader with it.
    }
  }

  @Override
  public void run() {
    int idle = 0;
    while (true) {
      try {
        Thread.sleep(TICK_MILLIS);
      } catch (InterruptedException e) {
        // Whoever interrupts all threads of a group does not mean this one.
      }
      Cleaner.clean();
      synchronized (LOCK) {
        idle = JOBS.isEmpty() ? idle + 1 : 0;
        if (idle > IDLE_TICKS) {
          thread = null;
          return;
        }
        for (Job job : JOBS) {
          if (!job.interrupted && job.caller.isInterrupted()) {
            job.interrupted = true;
            Native.runCancel(job.run);
          }
        }
      }
    }
  }
}
