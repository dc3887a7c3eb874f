#pragma once

#include <string_view>
#include <vector>

#include "diag/facts/job_facts.h"

/// Calls that programs print themselves, and the cells of tables that people make of them.
namespace ringside::facts {

/// Reads the calls of one line by the words and the `key value` pairs in it, in any order and notation:
///
///     rank 3: all_reduce(dp) step 41 n=1024 root=0        r2 | -> all_gather tp #8
///     {"rank": 3, "op": "broadcast", "src": 2, "event": "start"}      [0] recv(src=1) done
///
/// `subject.rank` is the rank that the line names; `subject.label` is a bare number before the line, `[2]` or `(2)`.
/// A state after a call belongs to that call, a state before the first call to the first one.
///
/// line     without the prefix of a launcher or a logger; at most 600 characters are read
/// returns  empty: a sentence, the duration of a call, or no call. A call without an operation is the end of the
///          rank's last one, `<- done`
std::vector<Call> read_calls(std::string_view line);

/// Whether a line is of a send or a receive: `step 8 mb 3: send -> 2`. The step that it names has not ended.
bool is_of_transfer(std::string_view line);

}  // namespace ringside::facts
