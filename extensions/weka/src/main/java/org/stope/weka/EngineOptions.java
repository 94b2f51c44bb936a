// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.Arrays;
import org.stope.Jobs;
import org.stope.Run;
import org.stope.Stope;
import org.stope.Table;

/**
 * Options of every scheme: where the engine computes, and how much it may take. None of them changes a result. Each scheme
 * has their properties itself: WEKA's editors find properties by reflection, which sees no default methods of interfaces
 * before Java 21.
 */
public final class EngineOptions {
  static final SchemeOptions DECLARED = new SchemeOptions();

  /** The device. The engine checks the name when it computes. */
  public static final SchemeOption<String> DEVICE = DECLARED.text("device", "<name>", "auto",
      "Where stope computes: auto, cpu, cuda or cuda:0,1. Results are the same everywhere");

  /** CPU threads. */
  public static final SchemeOption<Integer> THREADS =
      DECLARED.whole("threads", 0, 0, "CPU threads of stope; 0 is all");

  /** The memory limit of a job. */
  public static final SchemeOption<String> MEMORY = DECLARED.text("memory", "<size>", "",
      "Memory that stope may take, as 2GB; empty: 80 % of what is free");

  private EngineOptions() {}

  /** Makes a run with these options, which the caller closes. */
  public static Run newRun(OptionValues values) {
    String why = Stope.unavailableBecause();
    if (!why.isEmpty()) {
      throw new UnsupportedOperationException("stope cannot compute on this machine: " + why);
    }
    Run run = new Run();
    try {
      run.device(values.get(DEVICE)).threads(values.get(THREADS));
      if (!values.get(MEMORY).isEmpty()) {
        run.memoryLimit(values.get(MEMORY));
      }
      return run;
    } catch (RuntimeException e) {
      run.close();
      throw e;
    }
  }

  /** Refuses options that the engine does not know, or a device that is not there, by a job of one row. */
  public static void check(OptionValues values) {
    try (Run run = newRun(values)) {
      if (!values.get(DEVICE).equals(DEVICE.usual)) {
        try (Table one = Table.ofColumns(Arrays.asList("x"), new double[] {1})) {
          Jobs.compute("stats", one, null, null, run).close();
        }
      }
    }
  }
}
