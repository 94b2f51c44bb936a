package org.stope;

import java.util.ArrayList;
import java.util.List;

/**
 * Turns the interrupt of a thread that is inside a job into the cancellation of its run. One daemon thread looks at all
 * jobs every few milliseconds. It ends when there was no job for a second, because a running thread would keep the class
 * loader of a plug-in alive. It calls into native code, which calls back Arrow's release and nothing else. Whatever one
 * tick throws, the next one follows: heap that is short now may be there then.
 */
final class Watcher implements Runnable {
  private static final long TICK_MILLIS = 25;
  private static final int IDLE_TICKS = 40;

  private static final Object LOCK = new Object();
  private static final List<Job> JOBS = new ArrayList<>();
  private static Thread thread;

  private int idle;

  private Watcher() {}

  /** A thread inside a call. */
  static final class Job {
    private final Thread caller = Thread.currentThread();
    private final long run;
    private boolean interrupted;

    private Job(long run) {
      this.run = run;
    }

    private void look() {
      if (!interrupted && caller.isInterrupted()) {
        Native.runCancel(run);
        interrupted = true;
      }
    }
  }

  static Job begin(long run) {
    Job job = new Job(run);
    synchronized (LOCK) {
      if (thread == null || !thread.isAlive()) {
        thread = start();
      }
      JOBS.add(job); // Only now: whatever start() throws leaves no job behind.
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
      return thread != null && thread.isAlive();
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
    boolean over = false;
    while (!over) {
      try {
        Thread.sleep(TICK_MILLIS);
      } catch (Throwable e) {
        // Whoever interrupts all threads of a group does not mean this one.
      }
      try {
        over = tick();
      } catch (Throwable e) {
        // The next tick does what this one could not.
      }
    }
  }

  /** Returns whether the thread is over. Looking at the jobs takes no memory, so that it works where there is none. */
  private boolean tick() {
    synchronized (LOCK) {
      idle = JOBS.isEmpty() ? idle + 1 : 0;
      if (idle > IDLE_TICKS) {
        thread = null;
        return true;
      }
      for (int i = 0; i < JOBS.size(); ++i) {
        try {
          JOBS.get(i).look();
        } catch (Throwable e) {
          // A program's own class of threads may throw; the other jobs are looked at all the same.
        }
      }
    }
    Cleaner.clean();
    return false;
  }
}
