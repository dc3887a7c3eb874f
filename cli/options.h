#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ringside::cli {

/// One option, flag or word of a verb. Each call gives the option itself, for the next call.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required(bool is_required = true);
  Option* capture_default_str();              ///< --help shows what the value is now
  Option* expected(int words);                ///< so many words behind its name, no more, no fewer
  Option* allow_extra_args(bool is_allowed);  ///< false: one word each time that it is named
  Option* check_range(int from, int to);      ///< both ends are fine
  Option* check_words(std::vector<std::string> words);  ///< one of them

 private:
  CLI::Option* option_;
};

/// What a verb takes: a narrow door to CLI11, whose header is a heavy one. Only options.cpp and app.cpp
/// include it.
///
/// Ownership  each value outlives the parsing; an Option and the Options of a word below live as long as
///            the Options that made them
class Options {
 public:
  explicit Options(CLI::App& app);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  /// names  as CLI11 takes them: `-b,--bytes`, or `file` for a word without a name
  Option* add_option(const std::string& names, std::string& value, const std::string& what);
  Option* add_option(const std::string& names, int& value, const std::string& what);
  Option* add_option(const std::string& names, std::uint64_t& value, const std::string& what);
  Option* add_option(const std::string& names, double& value, const std::string& what);
  Option* add_option(const std::string& names, std::optional<int>& value, const std::string& what);
  /// One after the other: several words, or the option several times.
  Option* add_option(const std::string& names, std::vector<std::string>& value,
                     const std::string& what);
  Option* add_flag(const std::string& names, bool& value, const std::string& what);

  /// A word below the verb, with options of its own: `ringside trace info`.
  Options* add_subcommand(const std::string& name, const std::string& what);
  void require_subcommand(int count);
  [[nodiscard]] bool parsed() const;  ///< whether the words named it

 private:
  Option* keep(CLI::Option* option);

  CLI::App& app_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<Options>> below_;
};

}  // namespace ringside::cli
