// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

import com.rapidminer.example.ExampleSet;

/** What Apply Model applies. */
public interface Model extends ResultObject {
  ExampleSet apply(ExampleSet set) throws OperatorException;
}
