// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.stope.Run;
import org.stope.Stope;
import weka.core.Option;
import weka.core.Utils;

/** Where the engine computes, and how much it may take. None of this changes a result. */
public final class EngineOptions implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The engine chooses the device. */
  public static final String AUTO = "auto";

  private String device = AUTO;
  private int threads;
  private String memoryLimit = "";

  /** Gives the device: auto, cpu, cuda or cuda:0,1. */
  public String device() {
    return device;
  }

  /** Sets the device. The engine checks the name when it computes. */
  public void setDevice(String device) {
    this.device = device == null || device.isEmpty() ? AUTO : device;
  }

  /** Gives the number of CPU threads; 0 is all. */
  public int threads() {
    return threads;
  }

  /** Sets the number of CPU threads; 0 is all. */
  public void setThreads(int threads) {
    if (threads < 0) {
      throw new IllegalArgumentException("-threads is " + threads + ": give 0 for all, or a positive number");
    }
    this.threads = threads;
  }

  /** Gives the memory limit, as 2GB; empty is the engine's own. */
  public String memoryLimit() {
    return memoryLimit;
  }

  /** Sets the memory limit, as 2GB or 512MiB; empty is the engine's own. */
  public void setMemoryLimit(String memoryLimit) {
    this.memoryLimit = memoryLimit == null ? "" : memoryLimit;
  }

  /** Makes a run with these options, which the caller closes. */
  public Run newRun() {
    String why = Stope.unavailableBecause();
    if (!why.isEmpty()) {
      throw new UnsupportedOperationException("stope cannot compute on this machine: " + why);
    }
    Run run = new Run();
    try {
      run.device(device).threads(threads);
      if (!memoryLimit.isEmpty()) {
        run.memoryLimit(memoryLimit);
      }
      return run;
    } catch (RuntimeException e) {
      run.close();
      throw e;
    }
  }

  /** Lists the options as WEKA does. */
  public static List<Option> list() {
    return Arrays.asList(
        new Option("\tWhere stope computes: auto, cpu, cuda or cuda:0,1 (default: auto).", "device", 1,
            "-device <name>"),
        new Option("\tCPU threads of stope; 0 is all (default: 0).", "threads", 1, "-threads <number>"),
        new Option("\tMemory that stope may take, as 2GB (default: 80 % of what is free).", "memory", 1,
            "-memory <size>"));
  }

  /** Takes the options out of a command line. Those that are not there get their defaults. */
  public void take(String[] options) throws Exception {
    setDevice(Utils.getOption("device", options));
    String number = Utils.getOption("threads", options);
    try {
      setThreads(number.isEmpty() ? 0 : Integer.parseInt(number));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("-threads is '" + number + "', and a whole number is needed", e);
    }
    setMemoryLimit(Utils.getOption("memory", options));
  }

  /** Writes the options that are not defaults. */
  public List<String> written() {
    List<String> words = new ArrayList<>();
    if (!device.equals(AUTO)) {
      Collections.addAll(words, "-device", device);
    }
    if (threads != 0) {
      Collections.addAll(words, "-threads", Integer.toString(threads));
    }
    if (!memoryLimit.isEmpty()) {
      Collections.addAll(words, "-memory", memoryLimit);
    }
    return words;
  }
}
