#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace ringside::cli {

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

Options::Options(CLI::App& app) : app_(app) {}
Options::~Options() = default;

Option* Options::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

Option* Options::add_option(const std::string& names, std::string& value, const std::string& what) {
  return keep(app_.add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, int& value, const std::string& what) {
  return keep(app_.add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, std::uint64_t& value,
                            const std::string& what) {
  return keep(app_.add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, double& value, const std::string& what) {
  return keep(app_.add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, std::optional<int>& value,
                            const std::string& what) {
  return keep(app_.add_option(names, value, what));
}

Option* Options::add_option(const std::string& names, std::vector<std::string>& value,
                            const std::string& what) {
  return keep(app_.add_option(names, value, what));
}

Option* Options::add_flag(const std::string& names, bool& value, const std::string& what) {
  return keep(app_.add_flag(names, value, what));
}

Options* Options::add_subcommand(const std::string& name, const std::string& what) {
  CLI::App& below = *app_.add_subcommand(name, what);
  return below_.emplace_back(std::make_unique<Options>(below)).get();
}

void Options::require_subcommand(int count) { app_.require_subcommand(count); }

bool Options::parsed() const { return app_.parsed(); }

}  // namespace ringside::cli
