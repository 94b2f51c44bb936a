package org.stope;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RunTest {
  // All pairs of these rows are some minutes of work for the reference, which polls often.
  private static Table large;
  private static Model model;

  @BeforeAll
  static void fit() {
    large = ModelTest.labelled(200_000, 7, true);
    model = Model.fit("neighbors", large, Options.of("metric", "chebyshev"), null);
  }

  @AfterAll
  static void close() {
    model.close();
    large.close();
  }

  private static void longJob(Run run) {
    model.neighbors(large, 100, null, run);
  }

  /** Runs the long job in a thread and returns what it threw. */
  private static class Victim extends Thread {
    final AtomicReference<Throwable> thrown = new AtomicReference<>();
    final Run run;
    boolean interruptedAfterwards;

    Victim(Run run) {
      this.run = run;
    }

    @Override
    public void run() {
      try {
        longJob(run);
      } catch (Throwable e) {
        thrown.set(e);
      }
      interruptedAfterwards = isInterrupted();
    }

    StopeException cancelled() throws InterruptedException {
      join(20_000);
      assertFalse(isAlive(), "the job goes on");
      assertNotNull(thrown.get(), "the job ended before it was cancelled: make it longer");
      assertEquals(StopeException.class, thrown.get().getClass(), String.valueOf(thrown.get()));
      return (StopeException) thrown.get();
    }
  }

  @Test
  void interruptCancelsACallWithoutARun() throws Exception {
    Victim victim = new Victim(null);
    victim.start();
    Thread.sleep(300);
    long begin = System.nanoTime();
    victim.interrupt();
    assertEquals(StopeException.Code.CANCELLED, victim.cancelled().code());
    assertTrue(System.nanoTime() - begin < 2_000_000_000L);
    assertTrue(victim.interruptedAfterwards);
  }

  @Test
  void interruptCancelsItsOwnJobOnly() throws Exception {
    try (Run run = new Run()) {
      Victim victim = new Victim(run);
      victim.start();
      Thread.sleep(300);
      victim.interrupt();
      assertEquals(StopeException.Code.CANCELLED, victim.cancelled().code());
      try (Table small = ModelTest.labelled(10, 1, true)) {
        assertEquals(10, model.neighbors(small, 1, null, run).rows()); // The run works again.
      }
    }
  }

  /** A virtual thread is interrupted like any other; Java 21 and later have them. */
  @Test
  void interruptCancelsAVirtualThread() throws Exception {
    Method start;
    try {
      start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    } catch (NoSuchMethodException e) {
      Assumptions.assumeTrue(false, "this Java has no virtual threads");
      return;
    }
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Runnable job =
        () -> {
          try {
            longJob(null);
          } catch (Throwable e) {
            thrown.set(e);
          }
        };
    Thread thread = (Thread) start.invoke(null, job);
    Thread.sleep(300);
    thread.interrupt();
    thread.join(20_000);
    assertEquals(StopeException.class, thrown.get().getClass(), String.valueOf(thrown.get()));
    assertEquals(StopeException.Code.CANCELLED, ((StopeException) thrown.get()).code());
  }

  @Test
  void interruptedThreadBeginsNoJob() {
    try (Table small = ModelTest.labelled(10, 1, true)) { // Its jobs are over before the watcher looks.
      Thread.currentThread().interrupt();
      for (int i = 0; i < 20; ++i) {
        assertEquals(
            StopeException.Code.CANCELLED, TableTest.codeOf(() -> Model.fit("tree", small, null, null).close()));
      }
      assertTrue(Thread.currentThread().isInterrupted());
      assertEquals(10, small.column(0).length); // No job.
    } finally {
      Thread.interrupted();
    }
  }

  @Test
  void cancelEndsThisJobAndLaterOnesUntilReset() throws Exception {
    try (Run run = new Run();
        Table small = ModelTest.labelled(10, 1, true)) {
      Victim victim = new Victim(run);
      victim.start();
      Progress seen = run.progress();
      for (int i = 0; i < 200 && !(seen.running() && seen.done() > 0); ++i) {
        Thread.sleep(10);
        seen = run.progress();
      }
      assertTrue(seen.running());
      assertTrue(seen.done() > 0 && seen.done() <= seen.total(), seen.done() + " of " + seen.total());
      assertFalse(seen.phase().isEmpty());
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> longJob(run))); // It is in use.
      assertEquals("{}", run.report());
      assertEquals(0, run.warnings().size());
      run.cancel();
      assertEquals(StopeException.Code.CANCELLED, victim.cancelled().code());
      assertFalse(victim.interruptedAfterwards);
      assertEquals(StopeException.Code.CANCELLED, TableTest.codeOf(() -> model.neighbors(small, 1, null, run)));
      run.reset();
      assertEquals(10, model.neighbors(small, 1, null, run).rows());
      assertFalse(run.progress().running());
    }
  }

  /** A cancel in the moment that an interrupt is taken back in is never lost. */
  @Test
  void cancelIsNotLostWhileAnInterruptIsTakenBack() throws Exception {
    try (Table small = ModelTest.labelled(10, 1, true)) {
      for (int round = 0; round < 300; ++round) {
        try (Run run = new Run()) {
          run.begin();
          Native.runCancel(run.handle.enter()); // As the watcher does.
          run.handle.exit();
          run.end(true);
          CyclicBarrier together = new CyclicBarrier(2);
          Thread other =
              new Thread(
                  () -> {
                    try {
                      together.await();
                    } catch (Exception e) {
                      throw new IllegalStateException(e);
                    }
                    run.cancel();
                  });
          other.start();
          together.await();
          try {
            run.threads(1);
          } finally {
            other.join();
          }
          assertEquals(
              StopeException.Code.CANCELLED, TableTest.codeOf(() -> Model.fit("tree", small, null, run).close()));
        }
      }
    }
  }

  @Test
  void reportsArePolledWhileJobsRun() throws Exception {
    try (Run run = new Run().threads(1);
        Table small = ModelTest.labelled(10, 1, true)) {
      AtomicBoolean over = new AtomicBoolean();
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      Thread poller =
          new Thread(
              () -> {
                try {
                  while (!over.get()) {
                    assertTrue(run.report().startsWith("{"));
                    assertEquals(0, run.warnings().size());
                  }
                } catch (Throwable e) {
                  thrown.set(e);
                }
              });
      poller.start();
      try {
        for (int i = 0; i < 500; ++i) {
          Jobs.compute("feature_ranges", small, null, null, run).close();
        }
      } finally {
        over.set(true);
        poller.join();
      }
      assertEquals(null, thrown.get());
    }
  }

  @Test
  void anInterruptKeepsReportAndWarnings() throws Exception {
    try (Run run = new Run();
        Table twice = dependent()) {
      LinearModel.fit(twice, null, run).close();
      String report = run.report();
      assertTrue(report.length() > 2, report);
      Victim victim = new Victim(run);
      victim.start();
      Thread.sleep(300);
      victim.interrupt();
      assertEquals(StopeException.Code.CANCELLED, victim.cancelled().code());
      assertEquals(report, run.report());
      assertEquals(1, run.warnings().size());
      run.threads(1); // Takes the cancel back.
      assertEquals(report, run.report());
      assertEquals(1, run.warnings().size());
      Jobs.compute("feature_ranges", twice, null, null, run).close();
      assertEquals(1, run.warnings().size());
    }
  }

  @Test
  void cancellingAClosedRunDoesNothing() {
    Run run = new Run();
    run.close();
    run.cancel();
    assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(run::report));
  }

  /** A thread whose first question by the watcher fails as if there were no heap. */
  private static final class Failing extends Victim {
    private final AtomicInteger failures = new AtomicInteger(3);

    Failing() {
      super(null);
    }

    @Override
    public boolean isInterrupted() {
      if (Thread.currentThread() != this && failures.getAndDecrement() > 0) {
        throw new OutOfMemoryError("a test's");
      }
      return super.isInterrupted();
    }
  }

  @Test
  void theWatcherOutlivesAnError() throws Exception {
    Failing failing = new Failing();
    Victim victim = new Victim(null);
    failing.start();
    victim.start();
    Thread.sleep(400);
    assertTrue(failing.failures.get() < 3, "the watcher has not looked");
    assertTrue(Watcher.alive());
    victim.interrupt();
    assertEquals(StopeException.Code.CANCELLED, victim.cancelled().code());
    failing.interrupt();
    assertEquals(StopeException.Code.CANCELLED, failing.cancelled().code());
  }

  @Test
  void closingARunOrModelInUseLetsTheJobFinish() throws Exception {
    Run run = new Run();
    Model own = Model.fit("neighbors", large, null, null);
    AtomicReference<Object> result = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try (Table some = ModelTest.labelled(20_000, 9, true)) {
                result.set(own.neighbors(some, 5, null, run));
              } catch (Throwable e) {
                result.set(e);
              }
            });
    thread.start();
    while (!run.progress().running() && thread.isAlive()) {
      Thread.sleep(1);
    }
    own.close();
    run.close();
    thread.join();
    assertEquals(Neighbors.class, result.get().getClass(), String.valueOf(result.get()));
    assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(run::progress));
  }

  @Test
  void settingsAreCheckedAndReported() {
    try (Run run = new Run().threads(1).memoryLimit("2GB").memoryLimit(1_000_000_000L).device("cpu");
        Table small = ModelTest.labelled(10, 1, true)) {
      assertEquals("{}", run.report());
      model.neighbors(small, 1, null, run);
      assertTrue(run.report().contains("\"threads\":1"), run.report());
      assertArrayEquals(new Object[0], run.warnings().toArray());
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> run.threads(-1)));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> run.memoryLimit("much")));
      assertEquals(StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> run.device(null)));
    }
  }

  @Test
  void memoryLimitSaysWhatWouldDo() {
    try (Run run = new Run().memoryLimit(1000)) {
      StopeException error =
          org.junit.jupiter.api.Assertions.assertThrows(
              StopeException.class, () -> longJob(run));
      assertEquals(StopeException.Code.OUT_OF_MEMORY, error.code());
      assertTrue(error.bytes() > 1000, error.bytes() + ": " + error.getMessage());
    }
  }

  /** Two features of the same values, which least squares warn about. */
  private static Table dependent() {
    return Table.ofSchema(
        Arrays.asList(Column.real("x"), Column.real("again"), Column.real("y").as(Role.LABEL)),
        new double[] {1, 2, 4}, new double[] {1, 2, 4}, new double[] {3, 5, 8});
  }

  @Test
  void warningsHaveCodeAndText() {
    try (Run run = new Run();
        Table twice = dependent();
        LinearModel model = LinearModel.fit(twice, null, run)) {
      assertEquals(1, run.warnings().size());
      assertEquals("rank_deficient", run.warnings().get(0).code());
      assertTrue(run.warnings().get(0).text().contains("depend on one another"));
      run.reset();
      assertEquals(0, run.warnings().size());
    }
  }
}
