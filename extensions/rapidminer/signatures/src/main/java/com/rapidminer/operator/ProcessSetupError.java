// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

/** Something about an operator that its user should look at. */
public interface ProcessSetupError {
  enum Severity { INFORMATION, WARNING, ERROR }

  String getMessage();
}
