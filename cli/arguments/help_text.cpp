// Help as text (cli/arguments/help_text.hpp).
#include "arguments/help_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arguments/help_topics.hpp"
#include "report/text_table.hpp"
#include "stope/metric.hpp"
#include "stope/version.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kWidth = 96;   // columns of the help
constexpr std::size_t kIndent = 30;  // where descriptions begin

/// Wraps `text` into lines from column `from` to the width. The first line continues where the caller stopped.
std::string wrapped(const std::string& text, std::size_t from) {
  std::string result;
  std::size_t column = from;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (column > from && column + 1 + width_of(word) > kWidth) {
      result += "\n" + std::string(from, ' ');
      column = from;
    }
    if (column > from) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width_of(word);
    begin = end + 1;
  }
  return result;
}

std::string entry(const std::string& title, const std::string& description) {
  std::string line = "  " + title;
  if (line.size() + 2 > kIndent) {
    line += "\n" + std::string(kIndent, ' ');
  } else {
    line += std::string(kIndent - line.size(), ' ');
  }
  return line + wrapped(description, kIndent) + "\n";
}

std::string overview(const CLI::App& program) {
  std::string text = fmt::format("stope {}: {}\n\nUsage: stope COMMAND ARGUMENTS [options]\n\nCommands\n", version(),
                                 program.get_description());
  for (const CLI::App* command : commands_of(program)) {
    text += entry(command->get_name(), summary_of(*command));
  }
  text += "\nTopics\n" + entry("metrics", "the measures: names, attributes, parameters, formulas");
  for (const HelpTopic& topic : help_topics()) text += entry(std::string(topic.name), std::string(topic.summary));
  return text + "\n" + program.get_footer();
}

}  // namespace

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> groups_of(const CLI::App& app) {
  std::vector<std::string> groups;
  for (const CLI::Option* option : app.get_options()) {
    const std::string& group = option->get_group();
    if (option->get_positional() || group.empty()) continue;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  // CLI11 adds --help first. It belongs at the end, with the options of all commands.
  const auto common = std::find(groups.begin(), groups.end(), "Common options");
  if (common != groups.end()) std::rotate(common, common + 1, groups.end());
  return groups;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, const std::string& group) {
  return app.get_options(
      [&](const CLI::Option* option) { return !option->get_positional() && option->get_group() == group; });
}

std::string details_of(const CLI::App& app) {
  const std::string description = app.get_description();
  return description.substr(description.find('\n') + 1);
}

std::string usage_of(const CLI::App& app) {
  std::string usage = "stope " + app.get_name();
  for (const CLI::Option* argument : positionals_of(app)) {
    const std::string name = argument->get_name(true);
    usage += argument->get_required() ? " " + name : " [" + name + "]";
  }
  return usage + " [options]";
}

std::string summary_of(const CLI::App& app) {
  const std::string description = app.get_description();
  return description.substr(0, description.find('\n'));
}

std::string option_title(const CLI::Option& option) {
  std::string title;
  for (const std::string& name : option.get_snames()) title += (title.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) title += (title.empty() ? "    --" : ", --") + name;
  const std::string type = option.get_type_name();
  return type.empty() ? title : title + " " + type;
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App* app) { return !app->get_name().empty(); });
}

std::string help_text(const CLI::App& app) {
  if (app.get_parent() == nullptr) return overview(app);
  std::string text = "Usage: " + usage_of(app) + "\n\n" + wrapped(details_of(app), 0) + "\n";
  const std::vector<const CLI::Option*> arguments = positionals_of(app);
  if (!arguments.empty()) text += "\nArguments\n";
  for (const CLI::Option* argument : arguments) {
    text += entry(argument->get_name(true), argument->get_description());
  }
  for (const std::string& group : groups_of(app)) {
    text += "\n" + group + "\n";
    for (const CLI::Option* option : options_of(app, group)) {
      text += entry(option_title(*option), option->get_description());
    }
  }
  return text + "\n" + app.get_footer();
}

std::string metrics_advice() {
  return "mixed-euclidean, the default, takes numbers as they are: a column of large numbers decides alone. Where "
         "units "
         "differ, give --normalize range or z, or choose gower, which divides each difference by its column's range "
         "and "
         "the sum by the number of attributes compared. Of the others most skip an attribute that is missing in either "
         "row without making up for it, so rows with many missing values are near to all.";
}

std::string metrics_text() {
  constexpr const char* kAccepts[] = {"mixed", "numeric", "nominal"};
  std::string text = wrapped(metrics_advice(), 0) +
                     "\n\nMeasures: name (RapidMiner's name), what attributes it takes, parameters, formula\n\n";
  for (const MetricInfo& metric : metrics()) {
    std::string title = std::string(metric.name);
    if (!metric.rapidminer.empty()) title += fmt::format(" ({}.{})", metric.family, metric.rapidminer);
    std::string about = fmt::format("[{}] {}", kAccepts[static_cast<std::size_t>(metric.accepts)], metric.summary);
    if (!metric.params.empty()) about += fmt::format("; parameters: {}", metric.params);
    if (!metric.aliases.empty()) about += fmt::format("; also: {}", metric.aliases);
    text += entry(title, about);
  }
  return text;
}

}  // namespace stope::cli
