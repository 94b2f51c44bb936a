// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.repository.RepositoryManager;
import com.rapidminer.repository.local.LocalRepository;
import java.io.File;
import java.nio.file.Files;
import java.util.Map;

/** A model is stored in a repository, retrieved in another process, and predicts the same. */
final class RepositoryRuns {
  private static final String REPOSITORY = "stope_check";

  private RepositoryRuns() {}

  static long run() throws Exception {
    File folder = Files.createTempDirectory("stope-repository").toFile();
    RepositoryManager.getInstance(null).addRepository(new LocalRepository(REPOSITORY, folder));
    Comparison all = new Comparison();
    for (String target : new String[] {"polynomial classification", "polynomial"}) {
      Map<String, String> parameters = Processes.parameters("k", "5", "weighted_vote", "true");
      ExampleSet theirs = applied(target, stored(GoldenRuns.BUILT_IN, target, parameters));
      ExampleSet ours = applied(target, stored(GoldenRuns.OURS, target, parameters));
      all.compare(target, "MixedEuclideanDistance", theirs, ours);
      ExampleSet again = applied(target, restored(stored(GoldenRuns.OURS, target, parameters)));
      all.compare(target + ", stored twice", "MixedEuclideanDistance", theirs, again);
    }
    System.out.println("  stored and retrieved: " + all.summary());
    return all.failures;
  }

  private static String data(String target, String seed) {
    return Processes.operator("generate_data", "data", Processes.parameters("target_function", target,
        "number_examples", "200", "use_local_random_seed", "true", "local_random_seed", seed), "");
  }

  private static String stored(String learner, String target, Map<String, String> parameters) throws Exception {
    String entry = "//" + REPOSITORY + "/" + learner.replace(':', '_') + target.length();
    Processes.run(Processes.process(data(target, "1"), Processes.operator(learner, "learner", parameters, ""),
        Processes.operator("store", "store", Processes.parameters("repository_entry", entry), ""),
        Processes.connect("data.output", "learner.training set"), Processes.connect("learner.model", "store.input")));
    return entry;
  }

  /** Retrieves a model that was never used, and stores it again. */
  private static String restored(String entry) throws Exception {
    Processes.run(Processes.process(
        Processes.operator("retrieve", "retrieve", Processes.parameters("repository_entry", entry), ""),
        Processes.operator("store", "store", Processes.parameters("repository_entry", entry + "_again"), ""),
        Processes.connect("retrieve.output", "store.input")));
    return entry + "_again";
  }

  private static ExampleSet applied(String target, String entry) throws Exception {
    return Processes.run(Processes.process(data(target, "2"),
        Processes.operator("retrieve", "retrieve", Processes.parameters("repository_entry", entry), ""),
        Processes.operator("apply_model", "apply", Processes.parameters(), ""),
        Processes.connect("retrieve.output", "apply.model"),
        Processes.connect("data.output", "apply.unlabelled data"),
        Processes.connect("apply.labelled data", "result 1"))).get(ExampleSet.class);
  }
}
