#include "cli/manual/completion.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace ringside::cli {
namespace {

/// The word after the last blank: trace of `ringside trace`.
std::string last_word(const CommandText& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

/// The command and all below it.
std::vector<const CommandText*> commands_of(const CommandText& command) {
  std::vector<const CommandText*> all{&command};
  for (const CommandText& below : command.subcommands) {
    const auto more = commands_of(below);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// The text in single quotes, as bash and zsh read it. fish reads it alike, since no text here has a backslash.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

/// The patterns of the words that name a verb: 'ringside audit' | 'ringside trace' | ...
std::string verb_patterns(const CommandText& program, const char* between) {
  std::string text;
  for (const CommandText* command : commands_of(program)) {
    if (command == &program) continue;
    text += (text.empty() ? "" : between) + quoted(command->name);
  }
  return text;
}

/// Calls `with(command, option, name)` for each name of an option whose values are few.
template <class With>
void for_each_choice(const CommandText& program, With with) {
  for (const CommandText* command : commands_of(program)) {
    for (const OptionText& option : command->options) {
      if (option.choices.empty()) continue;
      for (const std::string& name : option.names) with(*command, option, name);
    }
  }
}

/// Text for the lists of zsh, where a colon ends the word.
std::string zsh_item(std::string_view word, std::string_view what) {
  return quoted(fmt::format("{}:{}", word, what));
}

}  // namespace

std::string bash_completion(const CommandText& program) {
  std::string text =
      "# bash completion of ringside\n"
      "_ringside() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local command=ringside options='' verbs='' values='' i\n"
      "  if [[ $current == '=' ]]; then\n"
      "    current=''\n"
      "  elif [[ $before == '=' ]]; then\n"
      "    before=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$command ${COMP_WORDS[i]}\" in\n";
  text += "      " + verb_patterns(program, " | ") + ") command+=\" ${COMP_WORDS[i]}\" ;;\n";
  text += "    esac\n  done\n  case $command in\n";
  for (const CommandText* command : commands_of(program)) {
    std::vector<std::string> names;
    std::vector<std::string> verbs;
    for (const OptionText& option : command->options)
      names.insert(names.end(), option.names.begin(), option.names.end());
    for (const CommandText& below : command->subcommands) verbs.push_back(last_word(below));
    text += fmt::format("    {})\n      options={}\n", quoted(command->name),
                        quoted(fmt::format("{}", fmt::join(names, " "))));
    if (!verbs.empty())
      text += fmt::format("      verbs={}\n", quoted(fmt::format("{}", fmt::join(verbs, " "))));
    text += "      ;;\n";
  }
  text += "  esac\n  case \"$command $before\" in\n";
  for_each_choice(
      program, [&](const CommandText& command, const OptionText& option, const std::string& name) {
        text += fmt::format("    {}) values={} ;;\n", quoted(command.name + " " + name),
                            quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      });
  return text +
         "  esac\n"
         "  if [[ -z $values && $current == -* ]]; then\n"
         "    values=$options\n"
         "  elif [[ -z $values ]]; then\n"
         "    values=$verbs\n"
         "  fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$current\")\n"
         "}\n"
         "complete -o bashdefault -o default -F _ringside ringside\n";
}

std::string zsh_completion(const CommandText& program) {
  std::string text =
      "#compdef ringside\n"
      "_ringside() {\n"
      "  local command=ringside word\n"
      "  local -a options verbs\n"
      "  for word in ${words[2,CURRENT-1]}; do\n"
      "    case \"$command $word\" in\n";
  text += "      (" + verb_patterns(program, "|") + ") command+=\" $word\" ;;\n";
  text += "    esac\n  done\n  case \"$command ${words[CURRENT-1]}\" in\n";
  for_each_choice(
      program, [&](const CommandText& command, const OptionText& option, const std::string& name) {
        text += fmt::format("    ({}) compadd -- {}; return ;;\n",
                            quoted(command.name + " " + name), fmt::join(option.choices, " "));
      });
  text += "  esac\n  case $command in\n";
  for (const CommandText* command : commands_of(program)) {
    text += fmt::format("    ({})\n      options=(\n", quoted(command->name));
    for (const OptionText& option : command->options) {
      for (const std::string& name : option.names)
        text += "        " + zsh_item(name, option.description) + "\n";
    }
    text += "      )\n";
    if (!command->subcommands.empty()) {
      text += "      verbs=(\n";
      for (const CommandText& below : command->subcommands)
        text += "        " + zsh_item(last_word(below), below.summary) + "\n";
      text += "      )\n";
    }
    text += "      ;;\n";
  }
  return text +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then\n"
         "    _describe -o option options\n"
         "  elif (( $#verbs )); then\n"
         "    _describe verb verbs\n"
         "  else\n"
         "    _files\n"
         "  fi\n"
         "}\n"
         "_ringside \"$@\"\n";
}

std::string fish_completion(const CommandText& program) {
  std::string text =
      "# fish completion of ringside\n"
      "function __ringside_is\n"
      "    set -l command ringside\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        if contains -- \"$command $word\" ";
  text += verb_patterns(program, " ") +
          "\n"
          "            set command \"$command $word\"\n"
          "        end\n"
          "    end\n"
          "    test \"$command\" = \"$argv\"\n"
          "end\n";
  for (const CommandText* command : commands_of(program)) {
    const std::string when = "complete -c ringside -n " + quoted("__ringside_is " + command->name);
    for (const CommandText& below : command->subcommands)
      text += fmt::format("{} -f -a {} -d {}\n", when, last_word(below), quoted(below.summary));
    for (const OptionText& option : command->options) {
      if (option.names.empty()) continue;
      text += when;
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.choices.empty()) {
        text += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      } else if (!option.value.empty()) {
        text += " -r";
      }
      text += " -d " + quoted(option.description) + "\n";
    }
  }
  return text;
}

}  // namespace ringside::cli
