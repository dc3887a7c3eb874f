#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/audit/evidence.h"

namespace ringside::audit {

/// How grave a finding is. From Warning up it makes the exit status 1.
enum class Severity : std::uint8_t {
  Info,     ///< true, and worth knowing
  Warning,  ///< the job runs, but slower or nearer to failure than it should
  Error,    ///< why a job failed, or a slowdown by a factor of several
};

const char* to_string(Severity severity);  ///< "info", "warn", "error"

/// How certain the conclusion is, if the lines are as quoted.
enum class Confidence : std::uint8_t { Low, Medium, High };

const char* to_string(Confidence confidence);

/// The cost of a transport finding: the model's predictions for the job with and without it.
struct Cost {
  std::string text;         ///< one sentence, with units
  double actual_gbs = 0;    ///< busbw, GB/s
  double expected_gbs = 0;  ///< busbw, GB/s; 0: not known
};

/// The choice that a variable forces on the library; Nothing for findings of other things.
enum class Forced : std::uint8_t { Nothing, NoRdma, GdrReach, Channels };

/// One fault that the logs show, or an alarming line that is harmless.
struct Finding {
  std::string id;  ///< of the corpus' list where it has one
  Severity severity = Severity::Info;
  Confidence confidence = Confidence::High;
  std::string title = {};  ///< one line, with the numbers that matter
  Evidence evidence = {};  ///< lines of the logs; empty only where their absence is the finding
  std::vector<int>
      ranks{};  ///< of the world communicator where it is known, else the lines' own; sorted
  std::vector<std::string> hosts = {};  ///< sorted
  std::string cause = {};
  std::string fix = {};  ///< a command or a variable first, then words
  std::vector<std::string> unseen =
      {};                      ///< evidence that would confirm or refute it and is not in the text
  std::string reference = {};  ///< where the rule comes from; a rule may leave it to its row
  std::optional<Cost> cost = {};
  Forced forces = Forced::Nothing;  ///< its possible consequences depend on this too
  /// Index of the finding that this one follows from; nothing: it is a first cause.
  std::optional<std::size_t> caused_by = {};
};

}  // namespace ringside::audit
