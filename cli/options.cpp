#include "cli/options.h"

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/host_name.h"
#include "base/path_pattern.h"
#include "base/suggest.h"

namespace ringside::cli {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// Returns the option's name in `--name=value`.
std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

std::string suggestion_among(const std::string& word, const std::vector<std::string>& known) {
  return suggestion(word, std::vector<std::string_view>(known.begin(), known.end()));
}

/// CLI11 would take the next word as the value: `--html= a.log` would write into the log.
Status check_empty_values(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    return Error{ErrorCode::InvalidArgument, fmt::format("{} has no value", word),
                 "give one after the =, or omit the option"};
  }
  return {};
}

/// The paths that an argument may name: itself, the files of a pattern, and those of a list with counts, such as
/// a.xml:4,b.xml:2.
void add_paths(const std::string& word, std::vector<std::string>& paths) {
  paths.push_back(word);
  glob_t matches{};
  if (word.find_first_of("*?[") != std::string::npos &&
      ::glob(word.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
    paths.insert(paths.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  ::globfree(&matches);
  for (std::size_t from = 0; from <= word.size();) {
    const std::size_t comma = std::min(word.find(',', from), word.size());
    const std::string part = word.substr(from, comma - from);
    paths.push_back(part);
    if (const std::size_t colon = part.rfind(':'); colon != std::string::npos)
      paths.push_back(part.substr(0, colon));
    from = comma + 1;
  }
}

}  // namespace

Option* Option::required(bool is_required) {
  option_->required(is_required);
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Option* Option::expected(int words) {
  option_->expected(words);
  return this;
}

Option* Option::allow_extra_args(bool is_allowed) {
  option_->allow_extra_args(is_allowed);
  return this;
}

Option* Option::check_range(int from, int to) {
  option_->check(CLI::Range(from, to));
  return this;
}

Option* Option::check_words(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return this;
}

Options::Options(std::string name, const std::string& what)
    : name_(std::move(name)), app_(std::make_unique<CLI::App>(what, name_)) {
  app_->allow_extras();  // unknown words are named together with the nearest known one
}

Options::~Options() = default;

Option* Options::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

Option* Options::add_option(const std::string& names, std::string& value, const std::string& what) {
  return keep(app_->add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, int& value, const std::string& what) {
  return keep(app_->add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, std::uint64_t& value,
                            const std::string& what) {
  return keep(app_->add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, double& value, const std::string& what) {
  return keep(app_->add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, std::optional<int>& value,
                            const std::string& what) {
  return keep(app_->add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, std::vector<std::string>& value,
                            const std::string& what) {
  return keep(app_->add_option(names, value, what));
}

Option* Options::add_flag(const std::string& names, bool& value, const std::string& what) {
  return keep(app_->add_flag(names, value, what));
}

Option* Options::add_output(const std::string& names, std::string& value, ContentKind kind,
                            const std::string& what, OutputPath meant) {
  if (outputs_.empty()) {
    app_->add_flag("--force", is_forced_, "overwrite a file of another kind");
  }
  CLI::Option* const option = app_->add_option(names, value, what);
  outputs_.push_back({&value, kind, meant, option});
  return keep(option);
}

Options* Options::add_subcommand(const std::string& name, const std::string& what) {
  // For the list in --help only: it is never parsed.
  app_->add_subcommand(name, what);
  app_->footer(fmt::format("Options and examples of a verb: {} help VERB", name_));
  below_.emplace_back(name, std::make_unique<Options>(name_ + " " + name, what));
  return below_.back().second.get();
}

void Options::describe(const std::string& text) { app_->description(text); }
void Options::add_version(const std::string& version) {
  app_->set_version_flag("--version", version);
}
void Options::add_moved(std::string option, std::string now) {
  moved_.emplace_back(std::move(option), std::move(now));
}
void Options::pass_all_words(std::vector<std::string>& words) { all_words_ = &words; }
std::string Options::help() const { return app_->help(); }

CommandText Options::text() const {
  CommandText text = command_text(*app_);
  for (const auto& [name, options] : below_) text.subcommands.push_back(options->text());
  return text;
}

// ---- parsing -----------------------------------------------------------------------------------

Result<std::optional<int>> Options::parse(std::vector<std::string> words) {
  is_chosen_ = true;
  if (all_words_ != nullptr) {
    *all_words_ = std::move(words);
    return std::optional<int>{};
  }
  if (below_.empty()) {
    RINGSIDE_TRY(const std::optional<int> done, parse_own(std::move(words)));
    if (!done) RINGSIDE_TRY(check_outputs());
    return done;
  }
  const auto verb = std::ranges::find_if_not(words, is_option);
  RINGSIDE_TRY(const std::optional<int> done, parse_own({words.begin(), verb}));
  if (done) return done;
  std::vector<std::string> names;
  for (const auto& [name, options] : below_) names.push_back(name);
  if (verb == words.end()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{}: no verb given", name_),
                 suggestion_among("", names)};
  }
  std::vector<std::string> rest(verb + 1, words.end());
  if (*verb == "help") {
    const Options* of = this;
    for (const std::string& word : rest) {
      if (of->below_.empty() && !is_option(word)) {
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("'{}' is one word too many for '{} help'", word, name_),
                     fmt::format("see {} --help", of->name_)};
      }
      const auto next =
          std::ranges::find(of->below_, word, [](const auto& one) { return one.first; });
      if (next == of->below_.end()) break;
      of = next->second.get();
    }
    rest.emplace_back("--help");
    return parse(std::move(rest));
  }
  const auto chosen = std::ranges::find(names, *verb);
  if (chosen != names.end()) {
    return below_[static_cast<std::size_t>(chosen - names.begin())].second->parse(std::move(rest));
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("{}: unknown verb '{}'", name_, *verb),
               suggestion_among(*verb, names)};
}

Result<std::optional<int>> Options::parse_own(std::vector<std::string> words) {
  RINGSIDE_TRY(check_empty_values(words));
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app_->parse(std::move(words));
  } catch (const CLI::CallForHelp& help) {
    return std::optional(app_->exit(help));
  } catch (const CLI::CallForVersion& version) {
    return std::optional(app_->exit(version));
  } catch (const CLI::ParseError& wrong) {
    // A misspelt option is reported before the required option that it leaves missing.
    RINGSIDE_TRY(check_leftovers());
    return worded(wrong);
  }
  RINGSIDE_TRY(check_leftovers());
  RINGSIDE_TRY(check_values());
  return std::optional<int>{};
}

/// Says in words what CLI11 refused. Its exceptions carry no more than a text with the option's name.
Error Options::worded(const CLI::ParseError& wrong) const {
  const std::string text = std::string(" ") + wrong.what() + " ";
  const std::string see = fmt::format("see {} --help", name_);
  for (const CLI::Option* option : app_->get_options()) {
    const std::string name = option->get_name();
    const std::size_t at = text.find(" " + name);
    if (at == std::string::npos) continue;
    const char behind = text[at + 1 + name.size()];
    if (behind != ' ' && behind != ':') continue;  // a longer name
    const std::string& what = option->get_description();
    const std::string first = what.substr(0, what.find_first_of(";:("));
    const std::string about =
        fmt::format("{}: {}; {}", name, first.substr(0, first.find_last_not_of(' ') + 1), see);
    if (wrong.get_name() == "RequiredError") {
      return {ErrorCode::InvalidArgument, fmt::format("{} is missing", name), about};
    }
    if (wrong.get_name() == "ArgumentMismatch" && option->count() > 1) {
      return {ErrorCode::InvalidArgument,
              fmt::format("{} is given {} times", name, option->count()), about};
    }
    if (wrong.get_name() == "ArgumentMismatch") {
      return {ErrorCode::InvalidArgument, fmt::format("{} has no value", name), about};
    }
    if (wrong.get_name() == "ConversionError" && !option->results().empty()) {
      const std::string type = option->get_type_name();
      const char* const kind = type == "INT"    ? "a whole number"
                               : type == "UINT" ? "a whole number from 0 on"
                                                : "a number";
      return {ErrorCode::InvalidArgument,
              fmt::format("{}: '{}' is not {}", name, option->results().back(), kind), about};
    }
  }
  return {ErrorCode::InvalidArgument, wrong.what(), see};
}

Error Options::unknown_option(const std::string& word) const {
  for (const auto& [old, now] : moved_) {
    if (name_in(word) != old) continue;
    return {ErrorCode::InvalidArgument, fmt::format("'{}' has left '{}'", old, name_),
            fmt::format("it is now: {}", now)};
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    // One-letter names are near to everything.
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return {ErrorCode::InvalidArgument,
          fmt::format("unknown option '{}' of '{}'", name_in(word), name_),
          suggestion_among(name_in(word), names) +
              (below_.empty() ? "" : "; an option of a verb follows the verb")};
}

/// Reports words that CLI11 could not assign.
Status Options::check_leftovers() const {
  bool are_words = false;
  for (const std::string& word : app_->remaining()) {
    if (word == "--" && !are_words) {
      are_words = true;
    } else if (is_option(word) && !are_words) {
      return unknown_option(word);
    } else {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' is one word too many for '{}'", word, name_),
                   fmt::format("see {} --help", name_)};
    }
  }
  return {};
}

/// CLI11 takes any word after an option as its value: `--html --json` would write a file called --json.
Status Options::check_values() const {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_positional()) continue;
    for (const std::string& value : option->results()) {
      if (!is_option(value) || app_->get_option_no_throw(name_in(value)) == nullptr) continue;
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{} has no value: '{}' is an option", option->get_name(), value),
                   fmt::format("see {} --help", name_)};
    }
  }
  return {};
}

// ---- outputs -----------------------------------------------------------------------------------

std::vector<std::string> Options::inputs() const {
  std::vector<std::string> paths;
  for (const CLI::Option* option : app_->get_options()) {
    if (std::ranges::find(outputs_, option, &Output::option) != outputs_.end()) continue;
    for (const std::string& word : option->results()) add_paths(word, paths);
  }
  return paths;
}

Status Options::check_output(const OutputFile& output) const {
  return ringside::check_output(output, inputs(), is_forced_);
}

Status Options::check_outputs() const {
  std::vector<std::pair<std::string, std::string>>
      seen;  // the file that it resolves to, and the option
  for (const Output& output : outputs_) {
    const bool is_folder = output.meant.is_folder != nullptr && *output.meant.is_folder;
    if (output.path->empty() || is_folder) continue;
    OutputFile file{.option = output.option->get_name(), .path = *output.path, .kind = output.kind};
    if (output.meant.is_pattern)
      file.path = filled_in_path(file.path, host_name("localhost"), ::getpid());
    RINGSIDE_TRY(check_output(file));
    std::error_code ignored;
    const std::string place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(file.path), ignored).string();
    for (const auto& [other, option] : seen) {
      if (other != place || file.path == "-") continue;
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{} and {} are both {}", option, file.option, file.path),
                   "give each a path of its own"};
    }
    seen.emplace_back(place, file.option);
  }
  return {};
}

}  // namespace ringside::cli
