// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.UserError;
import com.rapidminer.repository.RepositoryManager;
import com.rapidminer.repository.local.LocalRepository;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.ObjectOutputStream;
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
    all.failures += parameters();
    System.out.println("  stored and retrieved: " + all.summary());
    return all.failures;
  }

  /** Application parameters reach a model, and a copy of it that was saved needs no GPU. */
  private static long parameters() throws Exception {
    String target = "polynomial classification";
    String entry = stored(GoldenRuns.OURS, target, Processes.parameters("k", "5"));
    long failures = 0;
    for (String[] wanted : new String[][] {{"device", "gpu", "asks for a GPU"}, {"device", "fast", "auto, cpu or gpu"},
        {"server", "gpu-box.invalid:7400", "nothing was sent"}, {"memory_limit", "1000", "memory"}, {"device", "cpu", ""}}) {
      Model model = retrieved(entry);
      String message = "";
      try {
        model.setParameter(wanted[0], wanted[1]);
        model.apply(rows(target));
      } catch (UserError error) {
        message = error.getMessage();
      }
      boolean right = wanted[2].isEmpty() ? message.isEmpty() : message.contains(wanted[2]);
      if (!right) {
        failures++;
        System.out.println("  OTHER WORDS than '" + wanted[2] + "': " + message);
      }
    }
    Model model = retrieved(entry);
    model.setParameter("device", "gpu");
    model.setParameter("server", "gpu-box:7400");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(model);
    String kept = new String(bytes.toByteArray(), "ISO-8859-1");
    if (kept.contains("gpu-box")) {
      failures++;
      System.out.println("  the server is saved");
    }
    return failures;
  }

  private static Model retrieved(String entry) throws Exception {
    return Processes.run(Processes.process(
        Processes.operator("retrieve", "retrieve", Processes.parameters("repository_entry", entry), ""),
        Processes.connect("retrieve.output", "result 1"))).get(Model.class);
  }

  private static ExampleSet rows(String target) throws Exception {
    return Processes.run(Processes.process(data(target, "2"), Processes.connect("data.output", "result 1")))
        .get(ExampleSet.class);
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
