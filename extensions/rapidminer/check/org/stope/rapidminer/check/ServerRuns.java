// SPDX-License-Identifier: AGPL-3.0-or-later
package org.stope.rapidminer.check;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.Model;
import com.rapidminer.operator.UserError;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;

/** What a server alone can show: this Java has no native library, and saved models find a server again. */
final class ServerRuns {
  private ServerRuns() {}

  static long run() throws Exception {
    Model learned = learn(GoldenRuns.OURS).get(Model.class);
    Model saved = copy(learned);
    long failures = refused(saved);
    ExampleSet theirs = applied(learn(GoldenRuns.BUILT_IN).get(Model.class), "");
    Comparison equal = new Comparison();
    equal.compare("learned on the server", "MixedEuclideanDistance", theirs, applied(learned, ""));
    equal.compare("saved", "MixedEuclideanDistance", theirs, applied(saved, "<list key=\"application_parameters\">"
        + "<parameter key=\"server\" value=\"" + Processes.server() + "\"/></list>"));
    System.out.println("  saved and applied on the server: " + equal.summary());
    return failures + equal.failures;
  }

  /** A saved model forgets its server. Without one it needs the native library, which is not there. */
  private static long refused(Model saved) throws Exception {
    try {
      applied(saved, "");
      System.out.println("  NO ERROR without the native library");
      return 1;
    } catch (UserError error) {
      boolean right = error.getMessage().contains("could not be loaded");
      System.out.println("  " + (right ? "" : "OTHER WORDS: ") + error.getMessage());
      return right ? 0 : 1;
    }
  }

  private static com.rapidminer.operator.IOContainer learn(String learner) throws Exception {
    return Processes.run(Processes.process(data("1"),
        Processes.operator(learner, "learner", Processes.parameters("k", "5", "weighted_vote", "true"), ""),
        Processes.connect("data.output", "learner.training set"), Processes.connect("learner.model", "result 1")));
  }

  private static String data(String seed) {
    return Processes.operator("generate_data", "data", Processes.parameters("target_function",
        "polynomial classification", "number_examples", "200", "use_local_random_seed", "true", "local_random_seed",
        seed), "");
  }

  private static ExampleSet applied(Model model, String applicationParameters) throws Exception {
    return Processes.run(Processes.process(data("2"),
        Processes.operator("apply_model", "apply", Processes.parameters(), applicationParameters),
        Processes.connect("input 1", "apply.model"), Processes.connect("data.output", "apply.unlabelled data"),
        Processes.connect("apply.labelled data", "result 1")), model).get(ExampleSet.class);
  }

  private static Model copy(Model model) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(model);
    final ClassLoader classes = model.getClass().getClassLoader();
    return (Model) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())) {
      @Override
      protected Class<?> resolveClass(java.io.ObjectStreamClass type) throws ClassNotFoundException {
        return Class.forName(type.getName(), false, classes);
      }
    }.readObject();
  }
}
