// The names of the options of neighbours (stope/knn.hpp, stope/metric.hpp).
#include "base/choices.hpp"
#include "base/guarded.hpp"
#include "stope/knn_pairwise.hpp"

namespace stope {
namespace {

constexpr std::string_view kWeights[] = {"uniform", "distance"};
constexpr std::string_view kSearchFor[] = {"nearest", "farthest"};
constexpr std::string_view kAccepts[] = {"mixed", "numeric", "nominal"};

}  // namespace

VoteWeights vote_weights(std::string_view name) try {
  return choice_of<VoteWeights>(kWeights, name, {"vote weights", "weights"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(VoteWeights weights) noexcept {
  return name_of(kWeights, weights);
}
SearchFor search_for(std::string_view name) try {
  return choice_of<SearchFor>(kSearchFor, name, {"pairs to search for", "search_for"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(SearchFor search_for) noexcept {
  return name_of(kSearchFor, search_for);
}
std::string_view to_string(Accepts accepts) noexcept {
  return name_of(kAccepts, accepts);
}

}  // namespace stope
