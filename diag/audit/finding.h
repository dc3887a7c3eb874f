#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/audit/evidence.h"

namespace ringside::audit {

/// The severity of a finding. Warning and Error make the exit status 1.
enum class Severity : std::uint8_t {
  Info,     ///< worth knowing, harmless
  Warning,  ///< the job runs, but slower or closer to failure than it should
  Error,    ///< the job failed because of it, or runs several times slower
};

const char* to_string(Severity severity);  ///< "info", "warn", "error"

/// The certainty of a conclusion from the quoted lines.
enum class Confidence : std::uint8_t { Low, Medium, High };

const char* to_string(Confidence confidence);

/// The cost of a fault in a transport: the model's predictions for the job with and without the fault.
struct Cost {
  std::string text;         ///< one sentence, with units
  double actual_gbs = 0;    ///< busbw with the fault, GB/s
  double expected_gbs = 0;  ///< busbw without it, GB/s; 0: unknown
};

/// The choice that a variable forces on NCCL; Nothing for findings without such a variable.
enum class Forced : std::uint8_t { Nothing, NoRdma, GdrReach, Channels };

/// One fault that the logs show, or an alarming line that is harmless.
struct Finding {
  std::string id;  ///< id in finding_types()
  Severity severity = Severity::Info;
  Confidence confidence = Confidence::High;
  std::string title = {};  ///< one line, with the important numbers
  Evidence evidence = {};  ///< log lines; empty only if their absence is the finding
  /// Sorted ranks, of the largest communicator if it is known, else as in the lines
  std::vector<int> ranks{};
  std::vector<std::string> hosts = {};  ///< sorted
  std::string cause = {};               ///< a sentence
  std::string fix = {};                 ///< a command or a variable first, then the explanation
  /// Missing inputs that would confirm or refute the finding
  std::vector<std::string> unseen = {};
  std::string reference = {};  ///< source of the rule; empty: the source in rules.def
  std::optional<Cost> cost = {};
  Forced forces = Forced::Nothing;  ///< order_by_cause() uses it to find consequences
  /// Index of the finding that causes this one; nothing: this is a first cause.
  std::optional<std::size_t> caused_by = {};
};

}  // namespace ringside::audit
