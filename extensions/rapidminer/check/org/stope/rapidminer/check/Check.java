// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.RapidMiner;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/**
 * Runs the extension in a real RapidMiner, without a window, and compares it with the built-in operators:
 * Check GOLDENS TABLES [PART...]. GOLDENS is the folder of golden data sets ("-": none), TABLES the number of random
 * tables. scripts/rapidminer_check.sh compiles and calls it. With -Dstope.check.server=ADDRESS the extension's
 * operators compute on that server.
 */
public final class Check {
  /** Parts that need the native library in this process; a server's limits are its own. */
  private static final List<String> IN_THIS_PROCESS = Arrays.asList("repository", "mistakes");

  private Check() {}

  /** One part of the check: says what it has counted, and throws or counts where something is wrong. */
  interface Part {
    long run() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    LogManager.getLogManager().reset();
    Logger.getLogger("").setLevel(Level.WARNING);
    RapidMiner.setExecutionMode(RapidMiner.ExecutionMode.COMMAND_LINE);
    RapidMiner.init();
    System.out.println("RapidMiner " + RapidMiner.getLongVersion());
    int tables = Integer.parseInt(arguments[1]);
    List<String> wanted = Arrays.asList(arguments).subList(2, arguments.length);
    long failures = 0;
    if (!arguments[0].equals("-")) {
      Path goldens = Paths.get(arguments[0]);
      failures += part("goldens", wanted, () -> new GoldenRuns(goldens).run());
      failures += part("errors", wanted, () -> new GoldenRuns(goldens).errors());
    }
    failures += part("random", wanted, () -> new RandomTables(tables).run());
    failures += part("validation", wanted, ValidationRuns::run);
    failures += part("views", wanted, () -> new ViewRuns().run());
    failures += part("matching", wanted, MatchingRuns::run);
    failures += part("repository", wanted, RepositoryRuns::run);
    failures += part("update", wanted, UpdateRuns::run);
    failures += part("cross_distances", wanted, CrossDistanceRuns::run);
    failures += part("others", wanted, OtherOperators::run);
    failures += part("mistakes", wanted, Mistakes::run);
    failures += part("stop", wanted, StopRuns::run);
    failures += part("server", wanted, ServerRuns::run);
    System.out.println(failures == 0 ? "all equal" : failures + " failures");
    System.exit(failures == 0 ? 0 : 1);
  }

  private static long part(String name, List<String> wanted, Part part) {
    boolean unfit = Processes.server().isEmpty() ? name.equals("server") : IN_THIS_PROCESS.contains(name);
    if (unfit || !wanted.isEmpty() && !wanted.contains(name)) {
      return 0;
    }
    System.out.println("== " + name);
    try {
      long failures = part.run();
      System.out.println((failures == 0 ? "PASS " : "FAIL ") + name);
      return failures;
    } catch (Throwable failure) {
      System.out.println("FAIL " + name + ": " + failure);
      failure.printStackTrace(System.out);
      return 1;
    }
  }
}
