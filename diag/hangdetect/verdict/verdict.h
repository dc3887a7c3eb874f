#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_facts.h"

namespace ringside::hang {

/// What happened. Names as `verdict.kind` of the JSON has them: to_string().
enum class Kind : std::uint8_t {
  MissingRank,
  DeadRank,
  DivergedControlFlow,
  OpMismatch,
  ShapeMismatch,
  DtypeMismatch,
  RootMismatch,
  OrderMismatch,
  P2pUnmatched,
  DeadlockCycle,
  Straggler,
  NetworkStall,
  NotAHang,
  Unknown,  ///< something is wrong, and what is here does not say what
};

const char* to_string(Kind kind);

/// Where docs/formats says how one tells it: sections and rules.
const char* reference_of(Kind kind);

/// One explanation of what is seen.
struct Explanation {
  Kind kind = Kind::Unknown;
  std::vector<int> culprits;  ///< global ranks, ascending; empty when nobody is to blame
  double confidence = 0;      ///< 0 .. 1
  std::string why;            ///< a sentence or two
  std::string call;           ///< `all_reduce 812 of default_pg`; empty where no call is meant
  std::vector<std::string> details;  ///< what differs, who waits, the circle: a line each
  Stack stack;                       ///< of the culprit's call, or of its last one
  std::vector<Evidence> evidence;
  std::vector<std::string> missing;  ///< what to collect to be surer
  std::string next;                  ///< the one step to take first; empty: none would help
  std::string against;               ///< for those that are not the verdict: why it ranks lower
};

/// The answer: the best explanation, and the others that were weighed.
struct Verdict {
  Explanation best;
  std::vector<Explanation> others;  ///< by confidence, best first
};

}  // namespace ringside::hang
