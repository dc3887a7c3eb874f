#pragma once

#include <string_view>
#include <vector>

#include "diag/facts/job_facts.h"

/// Reads the collective calls that a program prints in its own format, or that a person lists in a table.
namespace ringside::facts {

/// Returns the calls that one line states, by its words and its `key value` pairs, in any order and notation:
///
///     rank 3: all_reduce(dp) step 41 n=1024 root=0        r2 | -> all_gather tp #8
///     {"rank": 3, "op": "broadcast", "src": 2, "event": "start"}      [0] recv(src=1) done
///
/// `subject.rank` is the rank that the line names; `subject.label` is a bare number before the line, `[2]` or `(2)`.
/// A state after a call belongs to that call, a state before the first call to the first one.
///
/// line     without the prefix of a launcher or a logger; at most 600 characters are read
/// returns  empty when the line is a sentence, names no call, has more than six words that do not belong to a call, or
///          states a duration while not all of its calls have ended. A call without an operation, `<- done`, ends the
///          rank's previous call
std::vector<Call> read_calls(std::string_view line);

/// Returns whether a line reports a send or a receive, `step 8 mb 3: send -> 2`. The step in the line is then still
/// running.
bool is_of_transfer(std::string_view line);

}  // namespace ringside::facts
