// Votes with lists of neighbours that a caller has, and lists of parts merged into those of the whole.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "knn.hpp"
#include "knn_lists.hpp"
#include "run.hpp"
#include "stope/knn.hpp"
#include "stope/vote.hpp"

namespace nb = nanobind;

namespace stope::python {

nb::tuple tuple_of(Neighbors lists) {
  return nb::make_tuple(array_of(std::move(lists.offsets)), array_of(std::move(lists.indices)),
                        array_of(std::move(lists.distances)));
}

namespace {

using MaybeNumbers = std::optional<Array1<double>>;
using Lists = std::tuple<Array1<std::int64_t>, Array1<std::int64_t>, Array1<double>>;

template <class T>
std::vector<T> vector_of(const Array1<T>& array) {
  return {array.data(), array.data() + array.size()};
}

// The core checks what the lists say when it uses them.
Neighbors neighbors_of(const Lists& lists) {
  const auto& [offsets, indices, distances] = lists;
  return {.offsets = vector_of(offsets), .indices = vector_of(indices), .distances = vector_of(distances)};
}

template <class T>
std::span<const T> span_of(const Array1<T>& array) {
  return {array.data(), array.size()};
}
std::span<const double> span_of(const MaybeNumbers& array) {
  return array ? span_of(*array) : std::span<const double>{};
}

nb::tuple vote_for_classes(const Lists& lists, const Values& classes, const Array1<std::int32_t>& codes,
                           std::string_view weights, const MaybeNumbers& sample_weights,
                           const MaybeNumbers& list_weights, std::int64_t n_neighbors, Run& run) {
  const Neighbors neighbors = neighbors_of(lists);
  const ListVoteOptions vote{
      .n_neighbors = n_neighbors, .weights = vote_weights(weights), .list_weights = span_of(list_weights)};
  const Voters voters{.codes = span_of(codes), .sample_weights = span_of(sample_weights)};
  Classification result = result_of(
      run, [&](const RunOptions& how) { return vote_classes(neighbors, classes, voters, vote, how); }, Duration::brief);
  const std::size_t n_rows = result.codes.size();
  nb::object winners = array_of(std::move(result.codes));
  return nb::make_tuple(winners, array_of(std::move(result.confidences), {n_rows, classes.size()}));
}

nb::object vote_for_means(const Lists& lists, const Array1<double>& targets, std::string_view weights,
                          const MaybeNumbers& sample_weights, const MaybeNumbers& list_weights,
                          std::int64_t n_neighbors, Run& run) {
  const Neighbors neighbors = neighbors_of(lists);
  const ListVoteOptions vote{
      .n_neighbors = n_neighbors, .weights = vote_weights(weights), .list_weights = span_of(list_weights)};
  const Voters voters{.targets = span_of(targets), .sample_weights = span_of(sample_weights)};
  return array_of(
      result_of(run, [&](const RunOptions& how) { return vote_means(neighbors, voters, vote, how); }, Duration::brief));
}

nb::tuple merge_lists(const std::vector<Lists>& parts, std::int64_t n_neighbors) {
  std::vector<Neighbors> lists;
  lists.reserve(parts.size());
  for (const Lists& part : parts) lists.push_back(neighbors_of(part));
  Neighbors merged;
  {
    const WithoutGil released;
    merged = merge_neighbors(lists, n_neighbors);
  }
  return tuple_of(std::move(merged));
}

}  // namespace

void bind_votes(nb::module_& module) {
  module.def("vote_classes", &vote_for_classes, nb::arg("lists"), nb::arg("classes"), nb::arg("codes"),
             nb::arg("weights") = "uniform", nb::arg("sample_weights").none() = nb::none(),
             nb::arg("list_weights").none() = nb::none(), nb::arg("n_neighbors") = 0, nb::arg("run"));
  module.def("vote_means", &vote_for_means, nb::arg("lists"), nb::arg("targets"), nb::arg("weights") = "uniform",
             nb::arg("sample_weights").none() = nb::none(), nb::arg("list_weights").none() = nb::none(),
             nb::arg("n_neighbors") = 0, nb::arg("run"));
  module.def("merge_neighbors", &merge_lists, nb::arg("parts"), nb::arg("n_neighbors"));
}

}  // namespace stope::python
