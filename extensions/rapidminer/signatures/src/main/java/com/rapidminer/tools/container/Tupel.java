// SPDX-License-Identifier: AGPL-3.0-or-later
// Written for this project from the documented API. It compiles, and never runs (extensions/rapidminer/README.md).
package com.rapidminer.tools.container;

import java.io.Serializable;

/** A pair that is ordered by its first part. */
public class Tupel<T1 extends Comparable<T1>, T2> implements Comparable<Tupel<T1, T2>>, Serializable {
  public Tupel(T1 first, T2 second) {}

  @Override
  public int compareTo(Tupel<T1, T2> other) {
    throw new UnsupportedOperationException();
  }
}
