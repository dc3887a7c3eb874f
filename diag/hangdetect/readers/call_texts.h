#pragma once

#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/paste_text.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/record.h"

/// Texts that occur in lines of several kinds: exceptions, tracebacks, an analyser's report.
namespace ringside::hang {

/// `Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=7, OpType=.., TensorShape=[..], ..)`: each
/// rank's call, as TORCH_DISTRIBUTED_DEBUG=DETAIL saw it.
void take_fingerprints(const logs::Record& record, Statements& statements);

/// `Culprit rank 17; Error type: ..`, as often as the line has it.
void take_culprits(const logs::Record& record, Statements& statements);

/// The peer in a traceback's source line: `dist.recv(input, 0)`, `dist.send(tensor, dst=1)`.  returns  -1: none
int peer_in(std::string_view line);

/// PyTorch prints the stack of the call that failed, which is not where the process is now: it moves from the lines
/// to the facts.
void take_call_stack(std::vector<PasteLine>& lines, LogFacts& facts);

}  // namespace ringside::hang
