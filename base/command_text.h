#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ringside {

/// One option, flag or argument of a command.
struct OptionText {
  std::vector<std::string> names = {};  ///< -b, --bytes; empty: an argument
  /// Name of its value: TEXT, INT; of an argument its own name; empty: a flag
  std::string value = {};
  std::string description = {};
  std::string default_value = {};         ///< empty: none
  std::vector<std::string> choices = {};  ///< the only values that it takes; empty: any
  bool is_repeatable = false;
  bool is_required = false;
};

/// A command line as manual pages and completions describe it: the program, a verb, or a verb of a verb.
struct CommandText {
  std::string name = {};  ///< as users type it: ringside trace info
  std::string summary = {};
  std::vector<std::string> examples = {};
  std::vector<OptionText> options = {};
  std::vector<CommandText> subcommands = {};
};

/// Reads the options of a CLI::App, and the summary and examples of its description: the lines after `examples:` are
/// examples. Hidden options are omitted, and `subcommands` stays empty. A template, so that this header needs none of
/// CLI11, which is slow to compile.
template <class App>
CommandText command_text(const App& app) {
  CommandText command{.name = app.get_name()};
  std::istringstream description(app.get_description());
  bool is_example = false;
  for (std::string line; std::getline(description, line);) {
    if (line == "examples:") {
      is_example = true;
    } else if (is_example) {
      command.examples.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    } else if (!line.empty()) {
      command.summary += (command.summary.empty() ? "" : " ") + line;
    }
  }
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    OptionText text{.description = option->get_description(),
                    .default_value = option->get_default_str(),
                    .is_repeatable = option->get_expected_max() > 1,
                    .is_required = option->get_required()};
    for (const std::string& name : option->get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) text.names.push_back("--" + name);
    // CLI11 appends what it checks: TEXT:{auto,never}, INT:INT in [1 - 64].
    const std::string type = option->get_type_name();
    if (text.names.empty()) {
      text.value = option->get_name(true);
    } else if (option->get_items_expected_max() > 0) {
      text.value = type.substr(0, type.find(':'));
    }
    if (const auto open = type.find('{'); open != std::string::npos) {
      std::istringstream set(type.substr(open + 1, type.find('}', open) - open - 1));
      for (std::string word; std::getline(set, word, ',');) text.choices.push_back(word);
    }
    command.options.push_back(std::move(text));
  }
  return command;
}

}  // namespace ringside
