// A chain as content: the options and tables of step i under names that begin with "i.", and its kind as "i.kind".
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/kinds.hpp"
#include "predict/steps.hpp"
#include "stope/error.hpp"

namespace stope::model {
namespace {

constexpr std::string_view kSteps = "steps", kKind = "kind";
constexpr auto kMostSteps = static_cast<std::int64_t>(ChainModel::kMostSteps);

std::string prefix_of(std::size_t step) {
  return std::to_string(step + 1) + ".";
}

// The step whose prefix the name has, and the rest of the name. Numbers are as prefix_of() writes them.
std::optional<std::pair<std::size_t, std::string>> parted(const std::string& name, std::size_t n_steps) {
  std::size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || at == end || *at != '.' || number < 1 || number > n_steps || name[0] == '0') return {};
  return std::pair(number - 1, std::string(at + 1, end));
}

}  // namespace

void put_chain(const ChainModel& model, Content& content) {
  predict::require_steps(model);
  content.kind = kChain;
  content.set(std::string(kSteps), static_cast<std::int64_t>(model.steps.size()));
  for (std::size_t i = 0; i < model.steps.size(); ++i) {
    Content step = content_of(model.steps[i]);
    const std::string prefix = prefix_of(i);
    content.set(prefix + std::string(kKind), step.kind);
    for (auto& [name, value] : step.options) content.set(prefix + name, std::move(value));
    for (NamedTable& named : step.tables) content.tables.push_back({prefix + named.name, std::move(named.table)});
  }
}

std::vector<Content> steps_of(const Content& content) {
  const std::int64_t n_steps = content.integer(kSteps, 2, kMostSteps);
  std::vector<Content> steps(static_cast<std::size_t>(n_steps));
  for (Content& step : steps) step.source = content.source;
  for (const auto& [name, value] : content.options) {
    auto part = parted(name, steps.size());
    if (!part) continue;
    if (part->second == kKind) {
      steps[part->first].kind = value;
    } else {
      steps[part->first].set(std::move(part->second), value);
    }
  }
  for (const NamedTable& named : content.tables) {
    auto part = parted(named.name, steps.size());
    if (part) steps[part->first].tables.push_back({std::move(part->second), named.table});
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // Else a small file could hold a chain in a chain in a chain ..., each of which takes memory for all inside it.
    if (steps[i].kind == kChain) content.fail("step " + std::to_string(i + 1) + " of the chain is a chain itself");
  }
  return steps;
}

ChainModel get_chain(const Content& content, const Table& columns, const RunOptions& run) {
  ChainModel chain;
  for (const Content& step : steps_of(content)) chain.steps.push_back(model_of(step, run));
  try {
    predict::require_chain(chain, columns);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::cancelled) throw;
    content.fail("the chain does not hold together: " + error.message());
  }
  return chain;
}

}  // namespace stope::model
