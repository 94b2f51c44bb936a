// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.Process;
import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.IOContainer;
import java.util.Arrays;
import java.util.Random;

/** A process that the user stops ends within a second, in the middle of a search and of a job. */
final class StopRuns {
  private static final int ROWS = 60000;
  private static final int COLUMNS = 40;
  private static final long MOST_MS = 1000;

  private StopRuns() {}

  static long run() throws Exception {
    Sheet big = sheet(ROWS, COLUMNS);
    String search = Processes.process(
        Processes.operator("stope:k_nn", "learner", Processes.parameters("measure_types", "NumericalMeasures",
            "numerical_measure", "CosineSimilarity", "k", "50"), ""),
        Processes.operator("apply_model", "apply", Processes.parameters(), ""),
        Processes.connect("input 1", "learner.training set"), Processes.connect("input 2", "apply.unlabelled data"),
        Processes.connect("learner.model", "apply.model"), Processes.connect("apply.labelled data", "result 1"));
    String distances = Processes.process(
        Processes.operator("stope:cross_distances", "distances", Processes.parameters("measure_types",
            "NumericalMeasures", "numerical_measure", "CosineSimilarity", "only_top_k", "true", "k", "50"), ""),
        Processes.connect("input 1", "distances.request set"),
        Processes.connect("input 2", "distances.reference set"),
        Processes.connect("distances.result set", "result 1"));
    String pairs = Processes.process(Processes.operator("stope:cross_distances", "distances", Processes.parameters(
        "measure_types", "NumericalMeasures"), ""), Processes.connect("input 1", "distances.request set"),
        Processes.connect("input 2", "distances.reference set"),
        Processes.connect("distances.result set", "result 1"));
    String blocks = search.replace("CosineSimilarity", "EuclideanDistance").replace("value=\"50\"", "value=\"1\"");
    return stopped("k-NN", search, big.set(), big.set(), "engine.Worker")
        + stopped("k-NN in short blocks", blocks, sheet(50, 4).set(), sheet(3000000, 4).set(), "Blocks.apply")
        + stopped("Cross Distances", distances, big.set(), big.set(), "engine.Worker")
        + stopped("pairs of Cross Distances", pairs, sheet(2000, 2).set(), sheet(2000, 2).set(), "DistancePairs.add");
  }

  private static Sheet sheet(int rows, int columns) {
    Random random = new Random(1);
    Sheet sheet = new Sheet();
    for (int c = 0; c < columns; c++) {
      sheet.column("x" + c, "real", null);
    }
    sheet.column("y", "binominal", java.util.Arrays.asList("no", "yes"));
    sheet.label = "y";
    for (int r = 0; r < rows; r++) {
      double[] row = new double[columns + 1];
      for (int c = 0; c < columns; c++) {
        row[c] = random.nextDouble();
      }
      row[columns] = random.nextInt(2);
      sheet.rows.add(row);
    }
    return sheet;
  }

  /** Stops the process half a second after it has come to {@code place}. */
  private static long stopped(String what, String xml, ExampleSet first, ExampleSet second, String place)
      throws Exception {
    final Process process = new Process(xml);
    final IOContainer input = new IOContainer(first, second);
    final Throwable[] end = new Throwable[1];
    Thread thread = new Thread(() -> {
      try {
        process.run(input);
      } catch (Throwable stop) {
        end[0] = stop;
      }
    });
    thread.start();
    while (thread.isAlive() && !Arrays.toString(thread.getStackTrace()).contains(place)) {
      Thread.sleep(2);
    }
    Thread.sleep(what.startsWith("pairs") ? 0 : 500);
    boolean ran = thread.isAlive();
    long before = System.nanoTime();
    process.stop();
    thread.join();
    long ms = (System.nanoTime() - before) / 1000000;
    System.out.println("  " + what + ": stopped after " + ms + " ms (" + end[0] + ")");
    if (!ran || end[0] == null || ms > MOST_MS) {
      System.out.println("  FAILED: the job had " + (ran ? "" : "already ") + "ended, or stopping took too long");
      return 1;
    }
    return 0;
  }
}
