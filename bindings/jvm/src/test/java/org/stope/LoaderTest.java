package org.stope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The native library is unpacked where it can be, once for every class loader, and swept when it is old. */
class LoaderTest {
  private static final String NATIVE = "org/stope/native/linux-x86_64";

  private static Path classes() throws Exception {
    return Paths.get(Stope.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static Path testClasses() throws Exception {
    return Paths.get(LoaderTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  /** Prints whether the library works; its argument is how often to ask. */
  static final class Ask {
    private Ask() {}

    public static void main(String[] arguments) throws Exception {
      for (int i = 0; i < 2; ++i) {
        try {
          System.out.println("version " + Stope.version());
          System.out.println("sum " + Jobs.distances(
              Table.ofColumns(java.util.Arrays.asList("x"), new double[] {1, 4}), null, null, null)[1]);
        } catch (StopeException e) {
          System.out.println(e.code() + ": " + e.getMessage());
        }
      }
      for (String folder : arguments) {
        System.out.println("devices " + Stope.devices());
        String[] left = new File(folder).list();
        System.out.println("left in " + folder + ": " + (left == null ? 0 : left.length));
        for (String name : left) {
          System.out.println(
              "permissions " + PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(Paths.get(folder, name))));
        }
      }
    }
  }

  private static String ask(Path classes, String tmp, String home, String... arguments) throws Exception {
    String path = classes + File.pathSeparator + testClasses();
    return new ChildJvm(path, "-Djava.io.tmpdir=" + tmp, "-Duser.home=" + home).run(Ask.class, arguments);
  }

  @Test
  void unpacksIntoAFreshFolderAndCleansUp(@TempDir Path tmp, @TempDir Path home) throws Exception {
    String output = ask(classes(), tmp.toString(), home.toString());
    assertTrue(output.contains("version 0.") && output.contains("sum 3.0"), output);
    try (Stream<Path> left = Files.list(tmp)) {
      assertEquals(0, left.filter(p -> p.getFileName().toString().startsWith("stope-")).count());
    }
    assertFalse(Files.exists(home.resolve(".cache")), "the first place was good enough");
  }

  @Test
  void fallsBackFromAFolderThatCannotBeWritten(@TempDir Path home) throws Exception {
    String output = ask(classes(), "/proc", home.toString());
    assertTrue(output.contains("version 0."), output);
    assertTrue(Files.isDirectory(home.resolve(".cache/stope")));
  }

  @Test
  void fallsBackFromAFileSystemThatForbidsExecution(@TempDir Path home) throws Exception {
    Path noexec = null;
    for (String line : Files.readAllLines(Paths.get("/proc/mounts"))) {
      String[] words = line.split(" ");
      Path place = Paths.get(words[1]);
      if (("," + words[3] + ",").contains(",noexec,") && words[2].equals("tmpfs") && Files.isWritable(place)) {
        noexec = place;
      }
    }
    assumeTrue(noexec != null, "no file system is mounted noexec and can be written");
    String output = ask(classes(), noexec.toString(), home.toString());
    assertTrue(output.contains("version 0."), output);
    assertTrue(Files.isDirectory(home.resolve(".cache/stope")));
    try (Stream<Path> left = Files.list(noexec)) {
      assertEquals(0, left.filter(p -> p.getFileName().toString().startsWith("stope-0")).count());
    }
  }

  @Test
  void saysAtEachUseThatNoFolderWorks() throws Exception {
    String output = ask(classes(), "/proc", "/proc");
    assertEquals(2, output.split("UNSUPPORTED: stope's native library cannot be unpacked", -1).length - 1, output);
    assertTrue(output.contains("org.stope.folder"), output);
  }

  /** A copy of the classes whose library was changed. */
  private static Path changed(Path to) throws Exception {
    Path from = classes();
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path copy = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    }
    return to;
  }

  @Test
  void refusesALibraryWithAnotherChecksum(@TempDir Path folder, @TempDir Path tmp) throws Exception {
    Path copy = changed(folder.resolve("classes"));
    Path library = copy.resolve(NATIVE).resolve("libstope_jni.so");
    byte[] bytes = Files.readAllBytes(library);
    bytes[bytes.length / 2] ^= 1;
    Files.write(library, bytes);
    String output = ask(copy, tmp.toString(), tmp.resolve("home").toString());
    assertTrue(output.contains("UNSUPPORTED") && output.contains("checksum"), output);
    assertFalse(output.contains("version 0."), output);
    Files.delete(copy.resolve(NATIVE).resolve("checksums.txt"));
    String without = ask(copy, tmp.toString(), tmp.resolve("home").toString());
    assertTrue(without.contains("UNSUPPORTED: this jar of stope has no native library"), without);
  }

  @Test
  void aPropertyNamesTheLibrary(@TempDir Path tmp) throws Exception {
    Path library = tmp.resolve("mine.so");
    Files.copy(classes().resolve(NATIVE).resolve("libstope_jni.so"), library);
    String path = classes() + File.pathSeparator + testClasses();
    String output = new ChildJvm(path, "-Dorg.stope.library=" + library, "-Djava.io.tmpdir=/proc").run(Ask.class);
    assertTrue(output.contains("version 0."), output);
    String none = new ChildJvm(path, "-Dorg.stope.library=" + tmp.resolve("none.so")).run(Ask.class);
    assertTrue(none.contains("UNSUPPORTED: stope's native library cannot be loaded"), none);
  }

  private static Path oldFolder(Path tmp, String name) throws Exception {
    Path folder = Files.createDirectory(tmp.resolve(name));
    Files.write(folder.resolve("lock"), new byte[0]);
    Files.write(folder.resolve("libstope_cuda.so"), new byte[10]);
    Files.setLastModifiedTime(folder, FileTime.fromMillis(System.currentTimeMillis() - 2 * 3_600_000));
    return folder;
  }

  @Test
  void sweepsOldFoldersOfProcessesThatAreGone(@TempDir Path tmp) throws Exception {
    Path gone = oldFolder(tmp, "stope-0.1.0-999999999-1");
    Path locked = oldFolder(tmp, "stope-0.1.0-999999998-2");
    Path young = oldFolder(tmp, "stope-0.1.0-999999997-3");
    Path other = oldFolder(tmp, "stope-and-more");
    Path target = oldFolder(tmp, "target");
    Path link = Files.createSymbolicLink(tmp.resolve("stope-0.1.0-999999996-4"), target);
    Files.setLastModifiedTime(young, FileTime.fromMillis(System.currentTimeMillis()));
    try (FileChannel channel = FileChannel.open(locked.resolve("lock"), StandardOpenOption.WRITE)) {
      channel.lock();
      ask(classes(), tmp.toString(), tmp.toString());
    }
    assertFalse(Files.exists(gone));
    assertTrue(Files.exists(locked.resolve("libstope_cuda.so")));
    assertTrue(Files.exists(young.resolve("libstope_cuda.so")));
    assertTrue(Files.exists(other.resolve("lock")));
    assertTrue(Files.exists(link, LinkOption.NOFOLLOW_LINKS) && Files.exists(target.resolve("lock")));
  }

  /** In a container that is started again and again, each JVM has the same number. */
  @Test
  void sweepsFoldersOfEarlierProcessesWithItsOwnNumber(@TempDir Path tmp) throws Exception {
    String[] own = Unpacked.process().split("\\.");
    assertEquals(Files.readSymbolicLink(Paths.get("/proc/self")).toString(), own[0]);
    Path mine = oldFolder(tmp, "stope-0.1.0-" + own[0] + "." + own[1] + "-42");
    Path earlier = oldFolder(tmp, "stope-0.1.0-" + own[0] + "." + (Long.parseLong(own[1]) - 1) + "-42");
    Unpacked.sweep(tmp, System.currentTimeMillis());
    assertTrue(Files.exists(mine));
    assertFalse(Files.exists(earlier));
    String output = ask(classes(), tmp.toString(), tmp.toString());
    assertTrue(output.contains("version 0."), output);
    assertFalse(Files.exists(mine)); // For another process it is one of many.
  }

  @Test
  void aLivingProcessKeepsItsFolder(@TempDir Path tmp) throws Exception {
    Unpacked mine = Unpacked.into(tmp);
    Path folder = mine.library().getParent();
    Files.setLastModifiedTime(folder, FileTime.fromMillis(System.currentTimeMillis() - 2 * 3_600_000));
    ask(classes(), tmp.toString(), tmp.toString());
    assertTrue(Files.exists(mine.library()));
    mine.delete();
    assertFalse(Files.exists(folder));
  }

  /** A library of the jar that is opened later stays until the process ends, and its folder only this user reads. */
  @Test
  void keepsAPlugInWhileTheProcessLives(@TempDir Path folder, @TempDir Path tmp) throws Exception {
    Path copy = changed(folder.resolve("classes"));
    Path plugin = copy.resolve(NATIVE).resolve("libstope_cuda.so");
    Path sums = copy.resolve(NATIVE).resolve("checksums.txt");
    boolean fake = !Files.exists(plugin);
    if (fake) {
      Files.write(plugin, "no library".getBytes(StandardCharsets.UTF_8));
      String line = Unpacked.sha256(plugin) + "  libstope_cuda.so\n";
      Files.write(sums, line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.APPEND);
    }
    String output = ask(copy, tmp.toString(), tmp.resolve("home").toString(), tmp.toString());
    assertTrue(output.contains("version 0.") && output.contains("left in " + tmp + ": 1"), output);
    assertTrue(output.contains("permissions rwx------"), output);
    // The engine looked there, and says why that file is no plug-in.
    assertTrue(!fake || output.contains(tmp.resolve("stope-").toString()), output);
    try (Stream<Path> left = Files.list(tmp)) {
      assertEquals(0, left.count());
    }
  }

  private static URLClassLoader loader() throws Exception {
    return new URLClassLoader(new URL[] {classes().toUri().toURL()}, ClassLoader.getSystemClassLoader().getParent());
  }

  private static Object use(ClassLoader loader) throws Exception {
    Class<?> stope = Class.forName("org.stope.Stope", true, loader);
    assertNotSame(Stope.class, stope);
    Class<?> table = Class.forName("org.stope.Table", true, loader);
    Object made =
        table
            .getMethod("ofColumns", java.util.List.class, double[][].class)
            .invoke(null, java.util.Arrays.asList("x"), new double[][] {{1, 2}});
    assertEquals(2L, table.getMethod("rows").invoke(made));
    Method close = table.getMethod("close");
    close.invoke(made);
    return stope.getMethod("version").invoke(null);
  }

  @Test
  void twoClassLoadersHaveALibraryEach() throws Exception {
    try (URLClassLoader one = loader();
        URLClassLoader two = loader()) {
      assertEquals(Stope.version(), use(one));
      assertEquals(Stope.version(), use(two));
      assertEquals(Stope.version(), use(one));
    }
  }

  /** No thread, hook or global reference keeps a plug-in's class loader when the host drops it. */
  @Test
  void aDroppedClassLoaderIsCollected() throws Exception {
    URLClassLoader loader = loader();
    use(loader);
    WeakReference<ClassLoader> dropped = new WeakReference<>(loader);
    loader.close();
    loader = null;
    for (int i = 0; i < 100 && dropped.get() != null; ++i) {
      System.gc();
      Thread.sleep(50); // The watcher ends after a second without a job.
    }
    assertNull(dropped.get());
  }

  /** Native memory that a plug-in never closed goes with its class loader. */
  @Test
  void aDroppedClassLoaderLeavesNoMemory() throws Exception {
    use(loader()); // What is made once is made now.
    long before = MisuseTest.residentKilobytes();
    List<Object> held = new ArrayList<>();
    for (int i = 0; i < 4; ++i) {
      URLClassLoader loader = loader();
      held.add(
          Class.forName("org.stope.Table", true, loader)
              .getMethod("ofColumns", List.class, double[][].class)
              .invoke(null, java.util.Arrays.asList("x"), new double[][] {new double[8_000_000]}));
      loader.close();
    }
    Thread.sleep(1500); // The watchers are over, so that nothing of these class loaders frees a forgotten table.
    assertTrue(MisuseTest.residentKilobytes() - before > 4 * 62_500);
    held.clear();
    long grown = 0;
    for (int i = 0; i < 200; ++i) {
      System.gc();
      Thread.sleep(50);
      grown = MisuseTest.residentKilobytes() - before;
      if (grown < 100_000) {
        return;
      }
    }
    assertTrue(grown < 100_000, "4 tables of 64 MB in dropped class loaders have left " + grown + " kB");
  }

  @Test
  void otherPlatformsAreNamed() {
    assertEquals("", NativeLibrary.platformProblem("Linux", "amd64", false));
    for (String[] other : new String[][] {{"Windows 11", "amd64"}, {"Mac OS X", "aarch64"}, {"Linux", "aarch64"}}) {
      String problem = NativeLibrary.platformProblem(other[0], other[1], false);
      assertTrue(problem.contains(other[0]) && problem.contains(other[1]) && problem.contains("server"), problem);
    }
    assertTrue(NativeLibrary.platformProblem("Linux", "amd64", true).contains("musl"));
    assertEquals("", Stope.unavailableBecause());
  }

  @Test
  void theWatcherEndsWhenItIsIdle() throws Exception {
    Table.ofColumns(java.util.Arrays.asList("x"), new double[] {1}).close();
    assertTrue(Watcher.alive());
    for (int i = 0; i < 100 && Watcher.alive(); ++i) {
      Thread.sleep(50);
    }
    assertFalse(Watcher.alive());
  }
}
