// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.engine;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A real stope-serve in a process of its own, at a port that the system chooses. */
final class ServeProcess implements Closeable {
  private static final Path ROOT = Paths.get("..", "..", "..").toAbsolutePath().normalize();
  private static final Path MODULE = ROOT.resolve("build/release/python");
  private static final Pattern ADDRESS = Pattern.compile("\"address\": *\"(https?)://([^\"/]*)/?\"");
  private static final int STARTS_WITHIN_S = 90;

  private final Process process;
  private final Path log;
  private String address;

  /** Flags of {@code stope-serve run}. */
  ServeProcess(Path folder, String... flags) throws Exception {
    log = folder.resolve("log");
    List<String> words = new ArrayList<String>(Arrays.asList("-m", "stope.serve", "run", "--state",
        folder.resolve("state").toString(), "--port", "0"));
    words.addAll(Arrays.asList(flags));
    process = python(words).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    for (long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(STARTS_WITHIN_S); address == null; ) {
      Matcher found = ADDRESS.matcher(text());
      if (found.find()) {
        address = (found.group(1).equals("http") ? "http://" : "") + found.group(2);
      } else if (System.nanoTime() > until || !process.isAlive()) {
        close();
        throw new IllegalStateException("the server did not start: " + text());
      }
      Thread.sleep(50);
    }
  }

  /** Why there can be no server here; empty if there can be one. */
  static String missing() throws Exception {
    Process asked = python(Arrays.asList("-c", "import fastapi, uvicorn, stope.serve.server")).redirectErrorStream(true)
        .start();
    StringBuilder said = new StringBuilder();
    for (int b = asked.getInputStream().read(); b >= 0; b = asked.getInputStream().read()) {
      said.append((char) b);
    }
    String[] lines = said.toString().trim().split("\n");
    return asked.waitFor() == 0 ? "" : lines[lines.length - 1];
  }

  /** What a command of stope-serve prints first, such as a new token. */
  static String command(String... words) throws Exception {
    List<String> all = new ArrayList<String>(Arrays.asList("-m", "stope.serve"));
    all.addAll(Arrays.asList(words));
    Process run = python(all).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String line = HttpBodies.line(run.getInputStream());
    if (run.waitFor() != 0) {
      throw new IllegalStateException(String.join(" ", words) + " failed");
    }
    return line;
  }

  private static ProcessBuilder python(List<String> words) throws IOException {
    File own = ROOT.resolve(".venv/bin/python").toFile();
    List<String> command = new ArrayList<String>();
    command.add(own.canExecute() ? own.toString() : "python3");
    command.addAll(words);
    ProcessBuilder python = new ProcessBuilder(command);
    if (Files.isDirectory(MODULE)) {
      python.environment().put("PYTHONPATH", MODULE.toString());
    }
    return python;
  }

  /** As the parameter "server" names it. */
  String address() {
    return address;
  }

  private String text() throws IOException {
    return Files.exists(log) ? new String(Files.readAllBytes(log), StandardCharsets.UTF_8) : "";
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
