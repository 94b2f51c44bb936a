package org.stope;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nothing that a program does with the binding ends the JVM, and nothing stays behind. */
class MisuseTest {
  /** The calls write files under any name, so that a JVM with a folder of its own makes them. */
  @Test
  void tenThousandBadCalls(@TempDir Path folder) throws Exception {
    ChildJvm child = new ChildJvm(absolute(System.getProperty("java.class.path"))).in(folder);
    String output = child.run(ManyBadCalls.class, folder.toString());
    assertTrue(output.contains("all calls made"), output);
  }

  /** What the child does. */
  static final class ManyBadCalls {
    private ManyBadCalls() {}

    public static void main(String[] arguments) throws Throwable {
      NativeLibrary.require();
      BadCalls calls = new BadCalls(1, Paths.get(arguments[0]));
      calls.run(10_000);
      assertTrue(calls.refused > 4000, calls.refused + " refused: " + calls.outcomes);
      assertTrue(calls.outcomes.size() > 30, calls.outcomes.toString());
      System.out.println("all calls made");
    }
  }

  private static String absolute(String classPath) {
    return Arrays.stream(classPath.split(File.pathSeparator))
        .map(part -> Paths.get(part).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** The native side checks the bounds itself: it does not rely on the classes that call it. */
  @Test
  void nativeCodeStaysInsideBuffers() {
    NativeLibrary.require();
    ByteBuffer direct = ByteBuffer.allocateDirect(16);
    long table = Native.tableOfColumns(new byte[][] {{'a'}}, new double[][] {{1, 2, 3}}, 3, 0);
    long builder = Native.builderNew(0, 0);
    Native.builderColumn(builder, new byte[] {'a'}, 0, new byte[] {'r', 'e', 'a', 'l'}, null);
    int[][] wrong = {{0, 16, 3, 1}, {8, 16, 2, 1}, {0, 24, 3, 1}, {-8, 16, 3, 1}, {16, 8, 1, 1}, {0, 16, -1, -1}, {4, 16, 1, 1}};
    for (int[] w : wrong) {
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT,
          TableTest.codeOf(() -> Native.builderAppendDirect(builder, direct, w[0], w[1], w[2], w[3])));
      assertEquals(
          StopeException.Code.INVALID_ARGUMENT,
          TableTest.codeOf(() -> Native.tableCopyDirect(table, 0, 0, w[2], w[3], direct, w[0], w[1])));
    }
    double[] two = new double[2];
    assertEquals(
        StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Native.builderAppend(builder, two, 3, 1)));
    assertEquals(
        StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Native.tableCopy(table, 0, 0, 3, 1, two, 0)));
    assertEquals(
        StopeException.Code.INVALID_ARGUMENT, TableTest.codeOf(() -> Native.tableCopy(table, 0, 0, 2, 1, two, 1)));
    Native.free(Native.BUILDER, builder);
    Native.free(Native.TABLE, table);
  }

  static long residentKilobytes() throws Exception {
    for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new AssertionError("no VmRSS");
  }

  private static void openAndClose(byte[] model, int n) {
    double[] x = new double[100];
    for (int i = 0; i < n; ++i) {
      switch (i % 4) {
        case 0:
          Table.ofColumns(Arrays.asList("x"), x).close();
          break;
        case 1:
          new Run().close();
          break;
        case 2:
          Model.fromBytes(model, null).close();
          break;
        default:
          try (TableBuilder builder = new TableBuilder(0).column(Column.real("x"))) {
            builder.append(x, 100).finish().close();
          }
      }
    }
  }

  /**
   * A JVM whose heap is in memory as a whole from the start, so that the rest of its memory shows what stays behind. The
   * property stope.opens asks for another number (scripts/jvm.sh -Dtest=MisuseTest -Dstope.opens=1000000).
   */
  @Test
  void hundredThousandOpenAndClose() throws Exception {
    ChildJvm child =
        new ChildJvm(
            absolute(System.getProperty("java.class.path")),
            "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    String output = child.run(OpensAndCloses.class, Integer.getInteger("stope.opens", 100_000).toString());
    Matcher found = Pattern.compile("(\\d+) opened and closed, ([-\\d]+) kB more").matcher(output);
    assertTrue(found.find(), output);
    System.out.println(found.group());
    // 10 bytes of every object would be 1,000 kB.
    assertTrue(Long.parseLong(found.group(2)) < 1000, output);
  }

  /** What the child does. */
  static final class OpensAndCloses {
    private OpensAndCloses() {}

    public static void main(String[] arguments) throws Throwable {
      byte[] model;
      try (Table train = ModelTest.labelled(100, 1, true);
          Model fitted = Model.fit("tree", train, null, null)) {
        model = fitted.toBytes();
      }
      int n = Integer.parseInt(arguments[0]);
      long live = Handle.live();
      openAndClose(model, 20_000); // compiles what is called
      System.gc();
      long before = residentKilobytes();
      openAndClose(model, n);
      System.gc();
      long grown = residentKilobytes() - before;
      assertEquals(live, Handle.live());
      System.out.println(n + " opened and closed, " + grown + " kB more");
    }
  }

  @Test
  void forgottenObjectsAreFreed() throws Exception {
    long live = Handle.live();
    for (int i = 0; i < 1000; ++i) {
      Table.ofColumns(Arrays.asList("x"), new double[100]);
    }
    for (int i = 0; i < 200 && Handle.live() > live; ++i) {
      System.gc();
      Thread.sleep(10);
      Cleaner.clean();
    }
    assertTrue(Handle.live() <= live, Handle.live() - live + " of 1000 forgotten tables live");
  }

  @Test
  void sixteenThreadsOnOneModel() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(16);
    CyclicBarrier together = new CyclicBarrier(16);
    try (Table train = ModelTest.labelled(2000, 1, true);
        Table rows = ModelTest.labelled(200, 2, true);
        Model model = Model.fit("classify", train, null, null)) {
      double[] expected;
      try (Table table = model.apply(rows, Options.of("proba", "true"), null)) {
        expected = table.column("confidence(low)");
      }
      List<Future<Void>> all = new ArrayList<>();
      for (int t = 0; t < 16; ++t) {
        all.add(
            pool.submit(
                (Callable<Void>)
                    () -> {
                      together.await();
                      for (int i = 0; i < 50; ++i) {
                        try (Table got = model.apply(rows, Options.of("proba", "true"), null)) {
                          assertArrayEquals(expected, got.column("confidence(low)"), 0.0);
                        }
                        assertTrue(model.info().contains("\"classes\""));
                      }
                      return null;
                    }));
      }
      for (Future<Void> one : all) {
        one.get();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** A handle goes with the last call that uses it, not with close(): text of the engine lives as long as the handle. */
  @Test
  void aHandleLivesWhileACallUsesIt() {
    Table table = Table.ofColumns(Arrays.asList("x"), new double[3]);
    long number = table.handle.enter();
    table.close();
    assertEquals(3, Native.tableRows(number));
    assertEquals("the table is closed", assertThrows(StopeException.class, table.handle::enter).getMessage());
    table.handle.exit();
    assertEquals(-1, Native.tableRows(number));
  }

  @Test
  void oneThreadClosesWhatOthersUse() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      for (int round = 0; round < 200; ++round) {
        Table table = Table.ofColumns(Arrays.asList("x", "y"), new double[50], new double[50]);
        CyclicBarrier together = new CyclicBarrier(4);
        List<Future<Void>> all = new ArrayList<>();
        for (int t = 0; t < 4; ++t) {
          boolean closes = t == 0;
          all.add(
              pool.submit(
                  (Callable<Void>)
                      () -> {
                        together.await();
                        try {
                          if (closes) {
                            table.close();
                          } else {
                            assertEquals(2, table.schema().size());
                            assertEquals(50, table.column(1).length);
                          }
                        } catch (StopeException e) {
                          assertEquals("the table is closed", e.getMessage());
                        }
                        return null;
                      }));
        }
        for (Future<Void> one : all) {
          one.get();
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** The JVM's own checker of JNI calls finds nothing to say about bad calls and good ones. */
  @Test
  void checkedJni(@TempDir Path folder) throws Exception {
    ChildJvm child = new ChildJvm(absolute(System.getProperty("java.class.path")), "-Xcheck:jni").in(folder);
    String output = child.run(CheckedCalls.class, folder.toString());
    assertTrue(output.contains("all calls made"), output);
    for (String line : output.split("\n")) {
      assertTrue(!line.contains("in native method") && !line.contains("JNI local refs"), line + "\n" + output);
    }
  }

  /** What the child does under -Xcheck:jni. */
  static final class CheckedCalls {
    private CheckedCalls() {}

    public static void main(String[] arguments) throws Throwable {
      NativeLibrary.require();
      new BadCalls(2, new File(arguments[0]).toPath()).run(3000);
      new TypedModelsTest().knn();
      new TypedModelsTest().stats();
      new TypedModelsTest().tree();
      new TypedModelsTest().discretizer();
      new TableTest().namesOfEveryKind();
      new TableTest().builderTakesBlocks();
      new TableTest().longCopies();
      new TableTest().wideTables();
      new ModelTest().listsOfPartsMerge();
      new ModelTest().radiusFindsAllWithin();
      new ModelTest().distancesOfAllPairs();
      new ModelTest().brokenBytesAreRefused();
      System.out.println("all calls made");
    }
  }
}
