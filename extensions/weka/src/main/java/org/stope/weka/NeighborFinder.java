// SPDX-License-Identifier: GPL-3.0-or-later
package org.stope.weka;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.stope.Neighbors;
import org.stope.StopeException;
import weka.core.DistanceFunction;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.NormalizableDistance;

/**
 * Finds nearest training rows as LinearNNSearch would: the engine lists candidates, and WEKA's own distance ranks them.
 * Ranking makes distances and ties WEKA's to the bit. A list of candidates is enough if its last one lies clearly behind
 * the k-th by WEKA's distance; otherwise a longer list is asked for, and in the end all rows are ranked.
 */
public final class NeighborFinder implements AutoCloseable {
  private static final int SPARE = 4; // Candidates behind the k-th, among which the gap is expected.
  private static final int LONGER = 4; // How much longer the next list is.
  private static final int FEW_QUERIES = 2; // An index costs about as much as so many scans.
  private static final int BLOCK_QUERIES = 8192;
  private static final int BLOCK_CANDIDATES = 1 << 21; // 16 bytes each on the way out of the engine

  // The engine's distances of an encoding differ from WEKA's by rounding alone, far less than this share.
  private static final double CLEARLY = 1 + 1e-6;

  private final Instances training;
  private final NormalizableDistance distance;
  private final OptionValues options;
  private final boolean queriesWiden;

  private HeldIndex index;
  private boolean scanned; // Whether a query was answered without an index since the last change.
  private boolean[] missingInTraining;
  private boolean[] missingInQueries;
  private int knownRows = -1;
  private Instance knownFirst;
  private Instance knownLast;

  /**
   * Makes a finder.
   *
   * @param distance has been given the same training rows
   * @param queriesWiden whether the caller lets each query widen the distance's ranges before it asks for it
   */
  public NeighborFinder(Instances training, NormalizableDistance distance, OptionValues options, boolean queriesWiden) {
    this.training = training;
    this.distance = distance;
    this.options = options;
    this.queriesWiden = queriesWiden;
  }

  /** Refuses a distance function that the engine has no measure for. */
  public static void requireKnown(DistanceFunction distance) {
    Encoding.required(distance);
  }

  /** Ranks the training rows for one query. */
  public RankedRows find(Instance query, int k, boolean skipIdentical) throws Exception {
    return find(Collections.singletonList(query), 0, k, skipIdentical)[0];
  }

  /**
   * Ranks the training rows for the query at {@code from} and for those behind it that do not change WEKA's ranges.
   *
   * @return a result for each of these queries, at least one
   */
  RankedRows[] find(List<Instance> queries, int from, int k, boolean skipIdentical) throws Exception {
    dropIfStale();
    boolean firstSingle = index == null && queries.size() - from == 1 && !scanned;
    if (firstSingle || training.numInstances() <= k + SPARE) {
      scanned = true; // An index may serve no other query.
      return scan(queries.subList(from, from + 1), k, skipIdentical);
    }
    Encoding encoding = index == null ? newEncoding() : index.encoding();
    List<Instance> block = block(encoding, queries, from);
    if (index == null && block.size() <= FEW_QUERIES && queries.size() - from > 1) {
      return scan(block, k, skipIdentical);
    }
    boolean known = true;
    for (Instance query : block) {
      known &= encoding.knowsMissing(query, missingInQueries);
    }
    if (index == null || !known) {
      close();
      index = HeldIndex.of(known ? encoding : newEncoding(), training, options);
    }
    return resolve(block, k, skipIdentical);
  }

  private RankedRows[] scan(List<Instance> queries, int k, boolean skipIdentical) {
    RankedRows[] results = new RankedRows[queries.size()];
    for (int i = 0; i < results.length; i++) {
      results[i] = scanOne(queries.get(i), k, skipIdentical);
    }
    return results;
  }

  /** Ranks all rows. The engine ends its own jobs at an interrupt; many scans are as long. */
  private RankedRows scanOne(Instance query, int k, boolean skipIdentical) {
    if (Thread.currentThread().isInterrupted()) {
      throw new StopeException(StopeException.Code.CANCELLED, "the thread was interrupted during a search");
    }
    return RankedRows.of(distance, training, query, null, k, skipIdentical);
  }

  private List<Instance> block(Encoding encoding, List<Instance> queries, int from) {
    int end = from + 1;
    int limit = Math.min(queries.size(), from + BLOCK_QUERIES);
    while (end < limit && (!queriesWiden || encoding.insideRanges(queries.get(end)))) {
      end++;
    }
    return queries.subList(from, end);
  }

  private RankedRows[] resolve(List<Instance> block, int k, boolean skipIdentical) {
    RankedRows[] results = new RankedRows[block.size()];
    List<Integer> open = new ArrayList<>(block.size());
    for (int i = 0; i < results.length; i++) {
      open.add(i);
    }
    long n = training.numInstances();
    // One more than k, as a query that is a training row is no neighbour of itself.
    for (long length = (long) k + 1 + SPARE; !open.isEmpty(); length *= LONGER) {
      if (index.encoding().tooWide() || length * LONGER > n) {
        for (int i : open) {
          results[i] = scanOne(block.get(i), k, skipIdentical);
        }
        break;
      }
      open = stillOpen(block, open, (int) length, k, skipIdentical, results);
    }
    return results;
  }

  private List<Integer> stillOpen(List<Instance> block, List<Integer> open, int length, int k, boolean skipIdentical,
      RankedRows[] results) {
    List<Integer> still = new ArrayList<>();
    int step = Math.max(1, BLOCK_CANDIDATES / length);
    for (int begin = 0; begin < open.size(); begin += step) {
      List<Integer> part = open.subList(begin, Math.min(open.size(), begin + step));
      List<Instance> queries = new ArrayList<>(part.size());
      for (int i : part) {
        queries.add(block.get(i));
      }
      Neighbors lists = index.search(queries, length, options);
      for (int q = 0; q < part.size(); q++) {
        int at = q * length;
        int[] rows = new int[length];
        for (int i = 0; i < length; i++) {
          rows[i] = (int) lists.indices()[at + i];
        }
        Arrays.sort(rows);
        RankedRows ranked = RankedRows.of(distance, training, queries.get(q), rows, k, skipIdentical);
        if (complete(ranked, lists.distances()[at + length - 1])) {
          results[part.get(q)] = ranked;
        } else {
          still.add(part.get(q));
        }
      }
    }
    return still;
  }

  /** Whether no row behind the last candidate can be as near as the k-th. */
  private boolean complete(RankedRows ranked, double last) {
    if (!ranked.full()) {
      return false;
    }
    double[] farthest = {ranked.distances()[ranked.distances().length - 1]};
    distance.postProcessDistances(farthest);
    return last > farthest[0] * CLEARLY;
  }

  private void dropIfStale() throws Exception {
    int n = training.numInstances();
    boolean sameRows = n == knownRows
        && (n == 0 || training.instance(0) == knownFirst && training.instance(n - 1) == knownLast);
    if (!sameRows) {
      close();
      missingInTraining = null;
      knownRows = n;
      knownFirst = n == 0 ? null : training.instance(0);
      knownLast = n == 0 ? null : training.instance(n - 1);
    } else if (index != null && !index.encoding().fits(distance.getRanges())) {
      close();
    }
  }

  private Encoding newEncoding() throws Exception {
    int attributes = training.numAttributes();
    if (missingInQueries == null) {
      missingInQueries = new boolean[attributes];
    }
    if (missingInTraining == null) {
      missingInTraining = new boolean[attributes];
      for (int a = 0; a < attributes; a++) {
        for (int i = 0; i < training.numInstances() && !missingInTraining[a]; i++) {
          missingInTraining[a] = training.instance(i).isMissing(a);
        }
      }
    }
    return new Encoding(distance, training, missingInTraining, missingInQueries);
  }

  /** Forgets the index: the training rows have changed. */
  @Override
  public void close() {
    scanned = false;
    if (index != null) {
      index.close();
      index = null;
    }
  }
}
