// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator.preprocessing.discretization;

import com.rapidminer.example.ExampleSet;
import com.rapidminer.operator.preprocessing.PreprocessingModel;
import com.rapidminer.tools.container.Tupel;
import java.util.Map;
import java.util.SortedSet;

/** Ranges in place of numbers. */
public class DiscretizationModel extends PreprocessingModel {
  public DiscretizationModel(ExampleSet training, boolean removeUseless) { super(training); }

  public void setRanges(Map<String, SortedSet<Tupel<Double, String>>> ranges) {
    throw new UnsupportedOperationException();
  }
}
