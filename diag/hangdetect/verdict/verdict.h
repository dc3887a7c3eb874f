#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hang_class.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_facts.h"

namespace ringside::hang {

/// What happened.
using Kind = HangClass;
using ringside::to_string;

/// Where docs/formats says how one tells it: sections and rules.
const char* reference_of(Kind kind);

/// One explanation of what is seen.
struct Explanation {
  Kind kind = Kind::Unknown;
  std::vector<int> culprits;   ///< global ranks, ascending; empty when nobody is to blame
  double confidence = 0;       ///< 0 .. 1
  std::int64_t exit_code = 0;  ///< of a death: a negative one is a signal; 0: none is said
  std::string why;             ///< a sentence or two
  std::string call;            ///< `all_reduce 812 of default_pg`; empty where no call is meant
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
