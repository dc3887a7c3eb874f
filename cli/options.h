#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/command_text.h"
#include "base/output_file.h"
#include "base/result.h"

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace ringside::cli {

/// One option, flag or positional word of a verb. Each method returns the option itself, so that
/// calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required(bool is_required = true);
  Option* capture_default_str();              ///< --help shows the current value
  Option* expected(int words);                ///< exactly so many words follow the option
  Option* allow_extra_args(bool is_allowed);  ///< false: each use of the option takes one word
  Option* check_range(int from, int to);      ///< from <= value <= to
  Option* check_words(std::vector<std::string> words);  ///< the value is one of them

 private:
  CLI::Option* option_;
};

/// How the path of an output is interpreted, if it is not a plain file name.
struct OutputPath {
  bool is_pattern = false;  ///< %h and %p are replaced (base/path_pattern.h)
  /// A flag; if set, the path names a folder, which the verb checks.
  const bool* is_folder = nullptr;
};

/// The options of a verb: a narrow interface to CLI11, whose header is slow to compile. Only options.cpp includes it.
///
/// Verbs form a tree: the program, `trace`, `trace info`. Each has a separate command line parser, so that an
/// argument is never taken for a verb.
///
/// Ownership  each value outlives the parsing; an Option and the Options of a word below live as long as
///            the Options that made them
class Options {
 public:
  /// name  as users type it: `ringside trace`
  Options(std::string name, const std::string& what);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  /// names  as CLI11 takes them: `-b,--bytes`, or `file` for a word without a name
  Option* add_option(const std::string& names, std::string& value, const std::string& what);
  Option* add_option(const std::string& names, int& value, const std::string& what);
  Option* add_option(const std::string& names, std::uint64_t& value, const std::string& what);
  Option* add_option(const std::string& names, double& value, const std::string& what);
  Option* add_option(const std::string& names, std::optional<int>& value, const std::string& what);
  /// For several words, or for a repeatable option.
  Option* add_option(const std::string& names, std::vector<std::string>& value,
                     const std::string& what);
  Option* add_flag(const std::string& names, bool& value, const std::string& what);

  /// Adds an option that names an output file. The verb then also has --force, and parse() rejects
  /// paths that would lose data.
  Option* add_output(const std::string& names, std::string& value, ContentKind kind,
                     const std::string& what, OutputPath meant = {});
  /// Checks an output path that the verb chooses itself.
  /// errors  as ringside::check_output(); the inputs are all files that the words name
  [[nodiscard]] Status check_output(const OutputFile& output) const;

  /// Adds a subcommand with options of its own: `ringside trace info`. The user must name one of
  /// the subcommands.
  Options* add_subcommand(const std::string& name, const std::string& what);
  /// Sets the text that --help shows in place of the line for the list of verbs.
  void describe(const std::string& text);
  void add_version(const std::string& version);
  /// Adds an option that the verb had once. Its use is an error that names the replacement `now`.
  void add_moved(std::string option, std::string now);
  /// Makes parse() store all words unparsed, for another program.
  void pass_all_words(std::vector<std::string>& words);

  /// Parses the words after the name. If there are subcommands, the first word names one.
  /// returns  an exit status if help was requested and printed; else nullopt: go on
  /// errors   InvalidArgument, with the nearest known word; as ringside::check_output()
  Result<std::optional<int>> parse(std::vector<std::string> words);
  [[nodiscard]] bool parsed() const { return is_chosen_; }  ///< whether the words named it
  /// Returns true if --force was given.
  [[nodiscard]] bool is_forced() const { return is_forced_; }
  [[nodiscard]] std::string help() const;
  /// Returns the options, and those of all subcommands, for manual pages and completions.
  [[nodiscard]] CommandText text() const;

 private:
  struct Output {
    std::string* path;
    ContentKind kind;
    OutputPath meant;
    CLI::Option* option;
  };

  Option* keep(CLI::Option* option);
  Result<std::optional<int>> parse_own(std::vector<std::string> words);
  [[nodiscard]] Status check_leftovers() const;
  [[nodiscard]] Status check_values() const;
  [[nodiscard]] Status check_outputs() const;
  [[nodiscard]] std::vector<std::string> inputs() const;
  [[nodiscard]] Error worded(const CLI::ParseError& wrong) const;
  [[nodiscard]] Error unknown_option(const std::string& word) const;

  const std::string name_;
  std::unique_ptr<CLI::App> app_;
  bool is_chosen_ = false;
  bool is_forced_ = false;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<Output> outputs_;
  std::vector<std::pair<std::string, std::string>> moved_;
  std::vector<std::pair<std::string, std::unique_ptr<Options>>> below_;
  std::vector<std::string>* all_words_ = nullptr;
};

}  // namespace ringside::cli
