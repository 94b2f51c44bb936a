// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.operator;

/** What all results share. */
public abstract class ResultObjectAdapter extends AbstractIOObject implements ResultObject {
  @Override
  public String getName() {
    throw new UnsupportedOperationException();
  }
}
