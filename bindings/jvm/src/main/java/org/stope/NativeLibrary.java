package org.stope;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Loads the native library, once. A failure is remembered and told at each use: an error in a static initialiser would
 * be told once, and then hidden behind NoClassDefFoundError.
 *
 * <p>The system property org.stope.library names a library to load as it is. Otherwise {@link Unpacked} puts the jar's
 * library into a fresh folder: the same path cannot be loaded by two class loaders.
 */
final class NativeLibrary {
  private static final int ABI_MAJOR = 1;
  private static String problem;

  private NativeLibrary() {}

  /** Throws UNSUPPORTED if the native library cannot be used. */
  static void require() {
    String why = problem();
    if (!why.isEmpty()) {
      throw new StopeException(StopeException.Code.UNSUPPORTED, why);
    }
  }

  /** Returns why the library cannot be used, or "". */
  static synchronized String problem() {
    if (problem == null) {
      try {
        problem = load();
      } catch (ThreadDeath e) {
        throw e;
      } catch (Throwable e) { // Also errors of the linker, and of a sandbox that forbids native code.
        problem = "stope's native library cannot be loaded: " + e;
      }
    }
    return problem;
  }

  private static String load() {
    String given = System.getProperty("org.stope.library");
    if (given != null) {
      System.load(Paths.get(given).toAbsolutePath().toString());
      return check();
    }
    String platform = platformProblem(System.getProperty("os.name"), System.getProperty("os.arch"), isMusl());
    if (!platform.isEmpty()) {
      return platform;
    }
    if (!Unpacked.inJar()) {
      return "this jar of stope has no native library; use the jar of a release, or set the system property"
          + " org.stope.library";
    }
    List<String> tried = new ArrayList<>();
    for (Path base : Unpacked.bases()) {
      String trouble = loadFrom(base);
      if (trouble.isEmpty()) {
        return check();
      }
      tried.add(base + ": " + trouble);
    }
    return "stope's native library cannot be unpacked and loaded ("
        + String.join("; ", tried)
        + "); set the system property org.stope.folder to a folder where libraries may be executed";
  }

  private static String loadFrom(Path base) {
    Unpacked unpacked = null;
    try {
      unpacked = Unpacked.into(base);
      System.load(unpacked.library().toString());
      unpacked.loaded();
      return "";
    } catch (Exception | UnsatisfiedLinkError e) { // A folder may forbid writing, and a file system execution.
      if (unpacked != null) {
        unpacked.delete();
      }
      return e.toString();
    }
  }

  private static String check() {
    int abi = Native.abi();
    return abi >>> 16 == ABI_MAJOR
        ? ""
        : "the native library has version " + (abi >>> 16) + " of stope's C ABI, and these classes need " + ABI_MAJOR;
  }

  /** Says whether there is a library for a platform: "", or the sentence that says where stope runs. */
  static String platformProblem(String system, String architecture, boolean musl) {
    boolean linux = system.toLowerCase(Locale.ROOT).contains("linux");
    boolean x86 = architecture.equals("amd64") || architecture.equals("x86_64");
    if (linux && x86 && !musl) {
      return "";
    }
    return "stope has native libraries for Linux on x86-64 with glibc, and this is "
        + system
        + " on "
        + architecture
        + (musl ? " with musl" : "")
        + "; such a machine can use stope on a server";
  }

  private static boolean isMusl() {
    try {
      for (String line : Files.readAllLines(Paths.get("/proc/self/maps"))) {
        if (line.contains("/ld-musl-")) {
          return true;
        }
      }
    } catch (java.io.IOException | RuntimeException e) {
      return false; // No such file, or a path that is no UTF-8: System.load() will tell.
    }
    return false;
  }
}
