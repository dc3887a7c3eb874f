#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/transport/transport.h"
#include "ringside/units.h"

namespace ringside {

/// What is the best on a host for calls of one kind up to a size.
struct HostRule {
  Collective collective = Collective::AllReduce;
  const Transport* transport = &usual_transport();
  bool is_crowded = false;  ///< more ranks than cores
  int nranks = 2;           ///< of so many ranks or more, while no rule is nearer
  Bytes up_to = {};         ///< of call_bytes(), included; kNoLimit
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;

  friend bool operator==(const HostRule&, const HostRule&) = default;
  [[nodiscard]] bool is_same_kind(const HostRule& other) const {
    return collective == other.collective && transport == other.transport &&
           is_crowded == other.is_crowded && nranks == other.nranks;
  }
};

inline constexpr Bytes kNoLimit{~std::uint64_t{0}};

/// Rules as a YAML file holds them: see data/host.yaml.
struct HostTable {
  std::vector<HostRule> rules;

  /// The rule for a call; null where none is of its kind.
  /// call  `up_to` is the call's size, algorithm and protocol are not read
  [[nodiscard]] const HostRule* find(const HostRule& call) const;

  /// Puts `rules`, all of one kind, in the place of those of that kind.
  void replace(const std::vector<HostRule>& measured);
};

/// where   for messages: the file
/// errors  Corrupt: names what is wrong and its line
Result<HostTable> parse_host_table(std::string_view text, const std::string& where);
std::string to_yaml(const HostTable& table);

/// The one that comes with the library.
const HostTable& usual_host_table();

/// Where this user's lies: ringside/host.yaml in XDG_CONFIG_HOME, by default ~/.config.
/// returns  empty where neither is known
std::string host_table_path(const Environment& environment = env_text);

/// This user's, or the usual one where there is no such file.
/// errors  as parse_host_table()
Result<HostTable> load_host_table(const std::string& path);

/// Writes it whole or not at all, and makes the folders towards it.
/// errors  System
Status save_host_table(const HostTable& table, const std::string& path);

}  // namespace ringside
