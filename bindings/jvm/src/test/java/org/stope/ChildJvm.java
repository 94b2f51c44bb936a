package org.stope;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Another JVM of the same kind, for tests that need properties of their own or may end it. */
final class ChildJvm {
  private final List<String> command = new ArrayList<>();
  private File folder;

  ChildJvm(String classPath, String... jvmArguments) {
    command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Arrays.asList(jvmArguments));
    command.addAll(Arrays.asList("-cp", classPath));
  }

  /** Lets the child work in a folder, for calls that may write files under any name. */
  ChildJvm in(Path working) {
    folder = working.toFile();
    return this;
  }

  /** Runs the main function of a class. Returns what it printed; throws if it failed. */
  String run(Class<?> main, String... arguments) throws Exception {
    return run(main.getName(), arguments);
  }

  String run(String main, String... arguments) throws Exception {
    List<String> all = new ArrayList<>(command);
    all.add(main);
    all.addAll(Arrays.asList(arguments));
    Process process = new ProcessBuilder(all).directory(folder).redirectErrorStream(true).start();
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    try (InputStream from = process.getInputStream()) {
      byte[] block = new byte[4096];
      for (int n = from.read(block); n > 0; n = from.read(block)) {
        output.write(block, 0, n);
      }
    }
    int code = process.waitFor();
    if (code != 0) {
      throw new AssertionError("exit code " + code + " of " + all + "\n" + output.toString("UTF-8"));
    }
    return output.toString("UTF-8");
  }
}
