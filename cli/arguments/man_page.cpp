// Man pages from the commands and their options (cli/arguments/man_page.hpp).
#include "arguments/man_page.hpp"

#include <algorithm>
#include <cctype>

#include "arguments/help_text.hpp"
#include "arguments/help_topics.hpp"
#include "stope/error.hpp"
#include "stope/metric.hpp"
#include "stope/version.hpp"

namespace stope::cli {
namespace {

constexpr const char* kMeasures = "stope-measures.7";
constexpr const char* kShared[] = {"Columns (by name or number, counted from 1; lists take patterns and ranges)",
                                   "Input formats", "Reading text tables", "Common options"};

bool is_shared(const std::string& group) {
  return std::find(std::begin(kShared), std::end(kShared), group) != std::end(kShared);
}

std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'' && (escaped.empty() || escaped.back() == '\n')) {
      escaped += "\\(aq";
    } else if (c == '.' && (escaped.empty() || escaped.back() == '\n')) {
      escaped += "\\&.";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c == '-' ? ' ' : std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string begin_of(const std::string& name, const std::string& summary) {
  const std::size_t dot = name.rfind('.');
  const std::string title = name.substr(0, dot), section = name.substr(dot + 1);
  std::string upper_title = title;
  for (char& c : upper_title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return ".TH " + roff(upper_title) + " " + section + " \"\" \"stope " + std::string(version()) +
         "\" \"User Commands\"\n.SH NAME\n" + roff(title) + " \\- " + roff(summary) + "\n";
}

std::string as_it_is(std::string_view text) {
  return ".nf\n" + roff(text) + ".fi\n";
}

std::string options_text(const CLI::App& app, const std::string& group) {
  std::string page;
  for (const CLI::Option* option : options_of(app, group)) {
    page += ".TP\n.B " + roff(option_title(*option)) + "\n" + roff(option->get_description()) + "\n";
  }
  return page;
}

const CLI::App* command_of_page(const CLI::App& program, const std::string& name) {
  for (const CLI::App* command : commands_of(program)) {
    if ("stope-" + command->get_name() + ".1" == name) return command;
  }
  return nullptr;
}

std::string command_page(const CLI::App& app, const std::string& name) {
  std::string page = begin_of(name, summary_of(app)) + ".SH SYNOPSIS\n.B " + roff(usage_of(app)) +
                     "\n.SH DESCRIPTION\n" + roff(details_of(app)) + "\n";
  const std::vector<const CLI::Option*> arguments = positionals_of(app);
  if (!arguments.empty()) page += ".SH ARGUMENTS\n";
  for (const CLI::Option* argument : arguments) {
    page += ".TP\n.I " + roff(argument->get_name(true)) + "\n" + roff(argument->get_description()) + "\n";
  }
  bool own = false, reads = false, measures = false;
  for (const std::string& group : groups_of(app)) {
    reads = reads || group == kShared[0];
    measures = measures || group == "Distance";
    if (is_shared(group)) continue;
    if (!own) page += ".SH OPTIONS\n";
    own = true;
    page += ".SS " + roff(group) + "\n" + options_text(app, group);
  }
  page += ".SH SHARED OPTIONS\nThe options of all commands";
  if (reads) page += ", and those that say how tables are read and what their columns are,";
  page += " are in\n.BR stope (1).\n.SH EXAMPLES\n";
  const std::string footer = app.get_footer();
  page += as_it_is(footer.substr(footer.find('\n') + 1)) + ".SH SEE ALSO\n.BR stope (1)";
  return page + (measures ? ",\n.BR stope\\-measures (7)\n" : "\n");
}

std::string measures_page() {
  constexpr const char* kAccepts[] = {"numeric and nominal", "numeric", "nominal"};
  std::string page =
      begin_of(kMeasures, "measures of distance and similarity") +
      ".SH DESCRIPTION\nThe names that\n.B \\-\\-metric\ntakes: stope's and RapidMiner's. A similarity "
      "counts as a distance with a minus in front. x is a value of the training row, y that of the query.\n.P\n" +
      roff(metrics_advice()) + "\n.SH MEASURES\n";
  for (const MetricInfo& metric : metrics()) {
    page += ".TP\n.B " + roff(metric.name) + "\n" + roff(metric.summary) +
            ".\nAttributes: " + kAccepts[static_cast<std::size_t>(metric.accepts)] + ".\n";
    if (!metric.params.empty()) page += "Parameters: " + roff(metric.params) + ".\n";
    if (!metric.rapidminer.empty()) {
      page += "RapidMiner: " + roff(metric.family) + "." + roff(metric.rapidminer) + ".\n";
    }
    if (!metric.aliases.empty()) page += "Also: " + roff(metric.aliases) + ".\n";
    if (!metric.allows_missing) page += "A missing value gives NaN, which comes last.\n";
    if (!metric.symmetric) page += "The distance of x from y is not that of y from x.\n";
  }
  return page + ".SH SEE ALSO\n.BR stope (1),\n.BR stope\\-knn (1)\n";
}

// A command with all the options that commands share: it reads two tables.
const CLI::App& reader_of_two_tables(const CLI::App& program) {
  return *program.get_subcommand("knn");
}

std::string program_page(const CLI::App& program) {
  std::string page = ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(program)) {
    page += ".TP\n.BR stope\\-" + roff(command->get_name()) + " (1)\n" + roff(summary_of(*command)) + "\n";
  }
  page += ".TP\n.BR stope\\-measures (7)\nMeasures of distance and similarity\n.SH SHARED OPTIONS\n";
  for (const char* group : kShared) {
    page += ".SS " + roff(group) + "\n" + options_text(reader_of_two_tables(program), group);
  }
  for (const HelpTopic& topic : help_topics()) {
    const bool exit = topic.name == "exit-codes";  // the name that readers of man pages look for
    page += ".SH " + (exit ? "EXIT STATUS" : upper(std::string(topic.name))) + "\n" + as_it_is(topic.text);
  }
  return page;
}

}  // namespace

std::vector<std::string> man_page_names(const CLI::App& program) {
  std::vector<std::string> names = {"stope.1"};
  for (const CLI::App* command : commands_of(program)) names.push_back("stope-" + command->get_name() + ".1");
  names.emplace_back(kMeasures);
  return names;
}

std::string man_page(const CLI::App& program, const std::string& name) {
  if (name == "stope.1") return program_page(program);
  if (name == kMeasures) return measures_page();
  const CLI::App* command = command_of_page(program, name);
  if (command == nullptr) throw Error(ErrorCode::invalid_argument, "help: no man page is called '" + name + "'");
  return command_page(*command, name);
}

}  // namespace stope::cli
