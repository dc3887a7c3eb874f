#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diag/audit/facts.h"

namespace ringside::audit {

/// What PyTorch's watchdog says of one rank.
struct Waiting {
  std::int64_t sequence = -1, numel_in = -1, numel_out = -1, timeout_ms = -1;
  std::string operation = {};
  std::string shape = {};  ///< `1024, 8` of the releases that print no number of elements
  std::int64_t at = -1, enqueued = -2, completed = -2;  ///< -2: not said
  std::string group = {};                               ///< GUID, else id; empty: not said
  bool has_timed_out = false;
  QuotedLine quoted;       ///< the timeout, or what else was heard first
  QuotedLine status = {};  ///< with `enqueued`; no text: not said
};

/// Who waits for what, of all ranks that a watchdog speaks for.
struct Waits {
  std::map<std::int32_t, Waiting> by_rank = {};  ///< global rank where the line has it
  std::int32_t nranks = -1;                      ///< of the job; -1: not known
  std::set<std::int32_t> timed_out = {};

  /// Ranks of the job that no timeout names; empty where the job's size is not known.
  [[nodiscard]] std::vector<std::int32_t> silent() const;
};

Waits waits_of(const JobFacts& facts);

/// `[rank3]:` or what else a line says of its rank; -1: nothing.
std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message);

}  // namespace ringside::audit
