// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

/** Why a process ends. */
public class OperatorException extends Exception {
  public OperatorException(String message) {}

  public OperatorException(String message, Throwable cause) {}
}
