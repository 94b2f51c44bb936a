// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import weka.attributeSelection.StopeCutEval;
import weka.classifiers.CheckClassifier;
import weka.classifiers.Classifier;
import weka.classifiers.lazy.IBk;
import weka.classifiers.lazy.StopeIBk;
import weka.classifiers.trees.StopeTree;
import weka.core.CheckGOE;
import weka.core.CheckOptionHandler;
import weka.core.OptionHandler;
import weka.core.Utils;
import weka.core.neighboursearch.StopeSearch;
import weka.filters.supervised.attribute.SupervisedDiscretize;

/** The checks that WEKA has for everything that extends it. */
class WekaChecksTest {
  private static void checkOptions(OptionHandler handler, String options) throws Exception {
    CheckOptionHandler check = new CheckOptionHandler();
    check.setSilent(true);
    check.setOptionHandler(handler);
    check.setUserOptions(Utils.splitOptions(options));
    assertTrue(check.checkListOptions(), "listOptions");
    assertTrue(check.checkSetOptions(), "setOptions");
    assertTrue(check.checkRemainingOptions(), "remaining options");
    assertTrue(check.checkCanonicalUserOptions(), "canonical options");
    assertTrue(check.checkResettingOptions(), "resetting options");
    CheckGOE editor = new CheckGOE();
    editor.setObject(handler);
    String told = told(() -> {
      editor.checkGlobalInfo();
      editor.checkToolTips();
    });
    assertEquals(2, told.split("yes", -1).length - 1, told);
  }

  @Test
  void optionsAndEditorsAreAsWekaWantsThem() throws Exception {
    checkOptions(new StopeIBk(), "-K 3 -I -X -W 10 -A \"weka.core.neighboursearch.StopeSearch -S -device cpu -threads 2\"");
    checkOptions(new StopeSearch(), "-S -fixed-ranges -device cpu -threads 2 -memory 1GB");
    checkOptions(new StopeTree(), "-criterion gini -missing fill -depth 3 -M 2 -min-score 0.5 -balanced -ccp-alpha 0.1 -S 4");
    checkOptions(new SupervisedDiscretize(), "-M chimerge -R 1-3 -V -C 0.95 -N 2 -missing drop -threads 1");
    checkOptions(new StopeCutEval(), "-criterion entropy -device cpu");
  }

  private static String told(Runnable check) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(bytes, true, "UTF-8"));
    try {
      check.run();
    } finally {
      System.setOut(before);
    }
    return bytes.toString("UTF-8");
  }

  /** Runs WEKA's tests of capabilities, weights, missing values, and of what a classifier leaves as it is. */
  private static List<String> failures(Classifier classifier) throws Exception {
    CheckClassifier check = new CheckClassifier();
    check.setClassifier(classifier);
    check.setNumInstances(20);
    String told = told(check::doTests);
    List<String> failed = new ArrayList<>();
    String[] lines = told.split("\n");
    boolean any = false;
    for (String line : lines) {
      any |= line.contains("...yes");
      if (line.contains("FAILED") || line.contains("exception")) {
        failed.add(line.trim());
      }
    }
    assertTrue(any, "WEKA tested nothing: " + told);
    return failed;
  }

  @Test
  void stopeIBkFailsNoTestThatIBkPasses() throws Exception {
    assertEquals(failures(new IBk()), failures(new StopeIBk()));
  }

  @Test
  void stopeTreePassesTheTestsOfClassifiers() throws Exception {
    assertEquals(new ArrayList<String>(), failures(new StopeTree()));
  }

  @Test
  void capabilitiesOfStopeIBkAreThoseOfIBk() {
    assertEquals(new IBk().getCapabilities().toString().replace("IBk", "X"),
        new StopeIBk().getCapabilities().toString().replace("StopeIBk", "X"));
    assertFalse(new StopeTree().getCapabilities().handles(weka.core.Capabilities.Capability.NUMERIC_CLASS));
  }
}
