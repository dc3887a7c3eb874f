#include "engine/tuning/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "base/suggest.h"
#include "base/text.h"
#include "engine/channels/parameters.h"
#include "engine/topology/parameters.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 8> kVariables{
    "NCCL_ALGO",     "NCCL_LL128_C2C",  "NCCL_LL128_NTHREADS", "NCCL_NET_OVERHEAD",
    "NCCL_NTHREADS", "NCCL_PAT_ENABLE", "NCCL_PROTO",          "NCCL_THREAD_THRESHOLDS"};

constexpr const char* kGrammar =
    "[collective:][^]word,word;... such as ring or ^LL128 or ring;allreduce:tree,nvls";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (text.empty() || text.back() == separator) parts.emplace_back();
  return parts;
}

/// NCCL's names of one kind, indexed by the enumerator.
template <typename Enum, std::size_t N>
std::array<std::string_view, N> nccl_words() {
  std::array<std::string_view, N> words;
  for (std::size_t i = 0; i < N; ++i) words[i] = nccl_name(static_cast<Enum>(i));
  return words;
}

/// Returns the index of NCCL's name.
template <std::size_t N>
Result<std::size_t> find_word(const char* variable, std::string_view what, std::string_view text,
                              const std::array<std::string_view, N>& words) {
  for (std::size_t i = 0; i < N; ++i) {
    if (lower_case(words[i]) == lower_case(text)) return i;
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("{}: unknown {} '{}'", variable, what, text),
               fmt::format("{}; the grammar is {}", suggestion(text, words), kGrammar)};
}

/// Reads NCCL_ALGO or NCCL_PROTO into [collective][word].
template <std::size_t N>
Result<bool> read_permissions(
    const char* variable, std::string_view what, const std::string& text,
    const std::array<std::string_view, N>& words,
    std::array<std::array<Permission, N>, kTunedCollectives>& permissions) {
  const auto collectives = nccl_words<Collective, kTunedCollectives>();
  bool names_collectives = false;
  bool is_first = true;
  for (const std::string& entry : split(text, ';')) {
    const std::size_t colon = entry.find(':');
    std::size_t from = 0;
    std::size_t to = kTunedCollectives;
    if (colon != std::string::npos) {
      RINGSIDE_TRY(from, find_word(variable, "collective", entry.substr(0, colon), collectives));
      to = from + 1;
      names_collectives = true;
    } else if (!is_first) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: '{}' names no collective", variable, entry),
                   fmt::format("only the first entry may be for all; the grammar is {}", kGrammar)};
    }
    is_first = false;
    std::string list = colon == std::string::npos ? entry : entry.substr(colon + 1);
    const bool excludes = !list.empty() && list[0] == '^';
    if (excludes) list.erase(0, 1);
    for (std::size_t c = from; c < to; ++c) {
      permissions[c].fill(excludes ? Permission::Yes : Permission::No);
    }
    for (const std::string& word : split(list, ',')) {
      RINGSIDE_TRY(const std::size_t index, find_word(variable, what, word, words));
      for (std::size_t c = from; c < to; ++c) {
        permissions[c][index] = excludes ? Permission::No : Permission::Yes;
      }
    }
  }
  return names_collectives;
}

Status read_thresholds(const Environment& environment,
                       std::array<std::optional<int>, 6>& thresholds) {
  constexpr const char* kName = "NCCL_THREAD_THRESHOLDS";
  const std::optional<std::string> text = environment(kName);
  if (!text) return {};
  std::istringstream stream(*text);
  std::size_t count = 0;
  for (std::string word; stream >> word; ++count) {
    const Result<std::int64_t> value = parse_int(word);
    if (count >= thresholds.size() || !value || *value > (1 << 20)) {
      return Error{ErrorCode::InvalidArgument, fmt::format("{}='{}'", kName, *text),
                   "give up to six whole numbers of bytes up to 1048576, with spaces between: tree "
                   "LL, LL128, "
                   "Simple, then ring; -1 keeps a default"};
    }
    if (*value >= 0) thresholds[count] = static_cast<int>(*value);
  }
  return {};
}

Result<std::optional<int>> read_threads(const Environment& environment, const char* name, int least,
                                        int most) {
  RINGSIDE_TRY(const auto value, env_int(environment, name, least, most));
  if (!value) return std::optional<int>{};
  if (*value % 32 != 0) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("environment variable {}='{}' is no multiple of 32", name, *value),
                 fmt::format("give a multiple of 32 from {} to {}", least, most)};
  }
  return std::optional<int>{static_cast<int>(*value)};
}

}  // namespace

TuningParameters::TuningParameters() {
  for (auto& row : algorithms) row.fill(Permission::Default);
  for (auto& row : protocols) row.fill(Permission::Default);
}

Result<TuningParameters> parse_tuning_parameters(const Environment& environment) {
  TuningParameters parameters;
  if (const auto text = environment("NCCL_ALGO")) {
    RINGSIDE_TRY(const bool names,
                 read_permissions("NCCL_ALGO", "algorithm", *text,
                                  nccl_words<Algorithm, kAlgorithms>(), parameters.algorithms));
    parameters.names_collectives = names;
  }
  if (const auto text = environment("NCCL_PROTO")) {
    RINGSIDE_TRY(const bool names,
                 read_permissions("NCCL_PROTO", "protocol", *text,
                                  nccl_words<Protocol, kProtocols>(), parameters.protocols));
    parameters.names_collectives = parameters.names_collectives || names;
  }
  RINGSIDE_TRY(parameters.nthreads, read_threads(environment, "NCCL_NTHREADS", 64, 512));
  RINGSIDE_TRY(parameters.ll128_nthreads,
               read_threads(environment, "NCCL_LL128_NTHREADS", 160, 640));
  RINGSIDE_TRY(read_thresholds(environment, parameters.thread_thresholds));
  RINGSIDE_TRY(const auto pat, env_int(environment, "NCCL_PAT_ENABLE", 0, 2));
  parameters.pat_enable = static_cast<int>(pat.value_or(2));
  RINGSIDE_TRY(const auto c2c, env_int(environment, "NCCL_LL128_C2C", 0, 1));
  parameters.ll128_c2c = c2c.value_or(1) != 0;
  RINGSIDE_TRY(const auto overhead, env_int(environment, "NCCL_NET_OVERHEAD", 0, 1'000'000'000));
  if (overhead) parameters.net_overhead_us = static_cast<double>(*overhead) * .001;
  return parameters;
}

std::span<const std::string_view> tuning_variables() { return kVariables; }

std::vector<std::string_view> known_variables() {
  std::vector<std::string_view> all;
  for (const auto& some : {topology_variables(), channel_variables(), tuning_variables()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace ringside
