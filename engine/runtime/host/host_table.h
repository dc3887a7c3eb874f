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

/// The best algorithm and protocol on hosts for one kind of call (is_same_kind) up to a size.
struct HostRule {
  Collective collective = Collective::AllReduce;
  const Transport* transport = &usual_transport();
  bool is_crowded = false;  ///< more ranks than cores
  int nranks = 2;           ///< applies from this number of ranks on, up to the next larger rule's
  Bytes up_to = {};         ///< largest call_bytes(), inclusive; or kNoLimit
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;

  friend bool operator==(const HostRule&, const HostRule&) = default;
  [[nodiscard]] bool is_same_kind(const HostRule& other) const {
    return collective == other.collective && transport == other.transport &&
           is_crowded == other.is_crowded && nranks == other.nranks;
  }
};

inline constexpr Bytes kNoLimit{~std::uint64_t{0}};

/// The rules of a YAML file such as data/host.yaml.
struct HostTable {
  std::vector<HostRule> rules;

  /// Returns the rule for a call: of those that apply, the one for the most ranks, then the one with the smallest limit.
  /// Null: no rule applies.
  /// call  `up_to` is the call's size, algorithm and protocol are not read
  [[nodiscard]] const HostRule* find(const HostRule& call) const;

  /// Replaces all rules of one kind by `measured`, which are all of that kind. An empty list changes nothing.
  void replace(const std::vector<HostRule>& measured);
};

/// Parses the YAML of a table of version 1.
/// where   the file's name, for error messages
/// errors  Corrupt: names the problem and its line
Result<HostTable> parse_host_table(std::string_view text, const std::string& where);

/// Writes the YAML that parse_host_table() reads.
std::string to_yaml(const HostTable& table);

/// Returns the built-in table.
const HostTable& usual_host_table();

/// Returns the path of this user's table: ringside/host.yaml in XDG_CONFIG_HOME, by default ~/.config.
/// returns  empty: neither XDG_CONFIG_HOME nor the home folder is known
std::string host_table_path(const Environment& environment = env_text);

/// Reads the table at `path`. Returns the built-in table if the file does not exist or cannot be read: calls then only
/// lose the tuning of this host.
/// errors  as parse_host_table()
Result<HostTable> load_host_table(const std::string& path);

/// Writes the table atomically, and creates missing folders.
/// errors  System
Status save_host_table(const HostTable& table, const std::string& path);

}  // namespace ringside
