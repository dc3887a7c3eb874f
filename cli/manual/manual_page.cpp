#include "cli/manual/manual_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace ringside::cli {
namespace {

/// Text as roff prints it: hyphens that can be searched and pasted, no escapes and no requests.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out;
}

std::string argument(const OptionText& option) {
  std::string text = "\\fI" + roff(option.value) + "\\fR";
  if (option.is_repeatable) text += "...";
  return option.is_required ? text : "[" + text + "]";
}

std::string synopsis(const CommandText& command) {
  std::string text = "\\fB" + roff(command.name) + "\\fR";
  if (!command.subcommands.empty()) text += " \\fIVERB\\fR";
  for (const OptionText& option : command.options) {
    if (option.names.empty()) text += " " + argument(option);
  }
  return text + " [\\fIOPTION\\fR...]";
}

/// The options, each with what it takes, its choices and its default.
std::string options(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options) {
    std::string head;
    for (const std::string& name : option.names)
      head += (head.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
    if (head.empty()) {
      head = argument(option);
    } else if (!option.value.empty()) {
      head += " \\fI" + roff(option.value) + "\\fR";
    }
    text += ".TP\n" + head + "\n" + roff(option.description) + "\n";
    if (!option.choices.empty())
      text += roff(fmt::format("One of: {}.", fmt::join(option.choices, ", "))) + "\n";
    if (!option.default_value.empty())
      text += roff(fmt::format("Default: {}.", option.default_value)) + "\n";
    if (option.is_required && !option.names.empty()) text += "Required.\n";
  }
  return text;
}

std::string verbs(const CommandText& command) {
  std::string text;
  for (const CommandText& verb : command.subcommands) {
    const bool has_page = command.name.find(' ') == std::string::npos;
    text += ".TP\n\\fB" + roff(has_page ? page_name(verb) + "(1)" : verb.name) + "\\fR\n" +
            roff(verb.summary) + "\n";
  }
  return text;
}

}  // namespace

std::string page_name(const CommandText& command) {
  std::string name = command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manual_page(const CommandText& command, const std::string& version) {
  const bool is_program = command.name.find(' ') == std::string::npos;
  const std::string name = page_name(command);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  std::string page = fmt::format(
      ".TH {} 1 \"\" \"ringside {}\" \"User Commands\"\n.nh\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
      roff(title), version, roff(name), roff(command.summary));
  if (is_program || command.subcommands.empty()) page += synopsis(command) + "\n";
  for (std::size_t i = 0; !is_program && i < command.subcommands.size(); ++i)
    page += (i == 0 ? "" : ".br\n") + synopsis(command.subcommands[i]) + "\n";
  if (!command.subcommands.empty()) page += ".SH VERBS\n" + verbs(command);
  page += ".SH OPTIONS\n" + options(command);
  for (const CommandText& below : command.subcommands) {
    if (!is_program) page += ".SS " + roff(below.name) + "\n" + options(below);
  }
  if (!command.examples.empty()) {
    page += ".SH EXAMPLES\n.nf\n";
    for (const std::string& example : command.examples) page += roff(example) + "\n";
    page += ".fi\n";
  }
  // In the words of docs/reference/command-line.md, as tests/cli/manual_test.py checks.
  page +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nfine\n"
      ".TP\n1\nthe tool worked and found something wrong: wrong data, a finding\n"
      ".TP\n2\nbad usage or bad input; nothing was written\n"
      ".TP\n3\na failure at run time, or the answer could not be written (stdout leads to a full "
      "disk)\n"
      ".SH SEE ALSO\n";
  if (!is_program) page += "\\fBringside\\fR(1)\n.PP\n";
  return page + roff("Pages that the output names, such as docs/accuracy.md: ") + "\\fB" +
         roff("ringside help docs/accuracy.md") + "\\fR\n";
}

}  // namespace ringside::cli
