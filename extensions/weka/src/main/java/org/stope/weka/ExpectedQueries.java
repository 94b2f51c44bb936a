// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.List;
import weka.core.Instance;

/**
 * Queries that will be asked one after the other in this order. They are searched in blocks, each when its first query
 * is asked: WEKA's ranges take in every query before its search, so a block ends where they would change.
 */
public final class ExpectedQueries {
  private final List<Instance> queries;
  private final NeighborFinder finder;
  private int next;
  private RankedRows[] block = {};
  private int blockBegin;
  private int blockK;

  /** Expects these queries. */
  public ExpectedQueries(List<Instance> queries, NeighborFinder finder) {
    this.queries = queries;
    this.finder = finder;
  }

  /** The queries that were not asked yet. */
  public List<Instance> remaining() {
    return queries.subList(next, queries.size());
  }

  /** Ranks the training rows for a query, or gives null if it is not the one that is expected next. */
  public RankedRows find(Instance query, int k, boolean skipIdentical) throws Exception {
    if (next >= queries.size() || queries.get(next) != query) {
      return null;
    }
    if (next >= blockBegin + block.length || blockK != k) {
      blockBegin = next;
      blockK = k;
      block = finder.find(queries, next, k, skipIdentical);
    }
    RankedRows found = block[next - blockBegin];
    block[next - blockBegin] = null;
    next++;
    return found;
  }
}
