// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs a session's calls on a thread of its own. RapidMiner says on the operator's thread alone whether a process shall
 * stop, so that thread must not be inside native code: it waits here, and looks ten times a second. Many short calls
 * count like one long one.
 */
public final class Worker implements AutoCloseable {
  static final long LOOK_EVERY_MS = 100;

  private final EngineSession session;
  private final Watch watch;
  private final BlockingQueue<FutureTask<?>> calls = new LinkedBlockingQueue<FutureTask<?>>();
  private final FutureTask<Void> end = new FutureTask<Void>(() -> null);
  private long lastLook = System.nanoTime();
  private double from = 0;
  private double to = 1;

  public Worker(EngineSession session, Watch watch) {
    this.session = session;
    this.watch = watch;
    // Not an executor of Java's: to end one takes a permission that RapidMiner Studio's sandbox withholds.
    Thread thread = new Thread(this::work, "stope");
    thread.setDaemon(true);
    thread.start();
  }

  private void work() {
    FutureTask<?> call = null;
    while (call != end) {
      try {
        call = calls.take();
        call.run();
      } catch (InterruptedException nobodyDoesThat) {
        continue;
      }
    }
  }

  public EngineSession session() {
    return session;
  }

  /** Says which part of all the work the calls that follow are: the watch is shown the progress of the whole. */
  void part(double shareBefore, double shareAfter) {
    from = shareBefore;
    to = shareAfter;
  }

  public <T> Future<T> start(Callable<T> call) {
    FutureTask<T> task = new FutureTask<T>(call);
    calls.add(task);
    return task;
  }

  /** Starts a call and waits for its end. */
  public <T> T run(Callable<T> call) throws Exception {
    return await(start(call));
  }

  /**
   * Waits for the end of a call. If the watch throws, the session is cancelled, and its exception leaves once the call
   * has ended: nobody may free what the call still uses.
   */
  public <T> T await(Future<T> call) throws Exception {
    try {
      while (true) {
        lookIfDue();
        try {
          return call.get(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException stillRunning) {
          look();
        }
      }
    } catch (ExecutionException failed) {
      throw unwrapped(failed);
    } catch (Exception stop) {
      session.cancel();
      waitForEnd(call);
      throw stop;
    }
  }

  /** Looks if the last look is a tenth of a second ago. It costs nothing otherwise: call it every few hundred rows. */
  void lookIfDue() throws Exception {
    if (System.nanoTime() - lastLook >= TimeUnit.MILLISECONDS.toNanos(LOOK_EVERY_MS)) {
      look();
    }
  }

  private void look() throws Exception {
    watch.look(session.progress().within(from, to));
    lastLook = System.nanoTime();
  }

  private static Exception unwrapped(ExecutionException failed) {
    Throwable cause = failed.getCause();
    if (cause instanceof Error) {
      throw (Error) cause;
    }
    return (Exception) cause;
  }

  /** Returns only after the call's end; an interrupt is kept for later. */
  static void waitForEnd(Future<?> call) {
    boolean interrupted = false;
    while (true) {
      try {
        call.get();
        break;
      } catch (ExecutionException ended) {
        break;
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the thread; a call that still runs is cancelled and awaited. */
  @Override
  public void close() {
    calls.add(end);
    boolean interrupted = false;
    while (!end.isDone()) {
      try {
        end.get(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException stillRunning) {
        session.cancel();
      } catch (InterruptedException again) {
        interrupted = true;
      } catch (ExecutionException never) {
        throw new IllegalStateException(never);
      }
    }
    session.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
