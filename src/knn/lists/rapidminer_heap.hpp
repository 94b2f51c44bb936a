// RapidMiner's heap, for host and device: a java.util.PriorityQueue used as a max-heap of size k by distance alone. The
// shape of this heap decides which of several equal candidates stays, so rows must be offered in training order.
#pragma once

#include "base/host_device.hpp"

namespace stope::knn {

/// Returns Double.compareTo(a, b) > 0: -0 < +0, NaN is above everything and equal to itself.
STOPE_HD inline bool java_greater(double a, double b) {
  if (a > b) return true;
  if (a < b) return false;
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan || b_nan) return a_nan && !b_nan;
  return 1.0 / a > 1.0 / b;  // equal values; the quotients differ only if these are zeros of different sign
}

/// Does what java.util.PriorityQueue.siftUp does: a parent that is not smaller stays where it is. `Array` has
/// distance(i), move(to, from) and put(to, candidate); the candidate goes to place `size` or above.
template <class Array, class Neighbor>
STOPE_HD void heap_push(Array& heap, int size, const Neighbor& candidate) {
  int i = size;
  while (i > 0) {
    const int parent = (i - 1) / 2;
    if (!java_greater(candidate.distance, heap.distance(parent))) break;
    heap.move(i, parent);
    i = parent;
  }
  heap.put(i, candidate);
}

/// Does what java.util.PriorityQueue.poll does to a heap of `size` > 0. The last element, `last`, sinks from the root;
/// if both children are equal, the left one rises. The heap then has one element less.
template <class Array, class Neighbor>
STOPE_HD void heap_poll(Array& heap, int size, const Neighbor& last) {
  --size;
  if (size == 0) return;
  int i = 0;
  for (int child = 1; child < size; child = 2 * i + 1) {
    const int right = child + 1;
    if (right < size && java_greater(heap.distance(right), heap.distance(child))) child = right;
    if (!java_greater(heap.distance(child), last.distance)) break;
    heap.move(i, child);
    i = child;
  }
  heap.put(i, last);
}

}  // namespace stope::knn
