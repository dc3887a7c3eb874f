#pragma once

#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/paste_text.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/record.h"

/// Texts that stand in lines of several kinds: exceptions, tracebacks, an analyser's report.
namespace ringside::hang {

/// `Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=7, OpType=.., TensorShape=[..], ..)`: what each
/// rank called, as TORCH_DISTRIBUTED_DEBUG=DETAIL saw it.
void take_fingerprints(const logs::Record& record, Statements& statements);

/// `Culprit rank 17; Error type: ..`, as often as the line has it.
void take_culprits(const logs::Record& record, Statements& statements);

/// The peer in a traceback's source line: `dist.recv(input, 0)`, `dist.send(tensor, dst=1)`.  returns  -1: none
int peer_in(std::string_view line);

/// A stack that PyTorch prints of a collective that failed is of a call, not of where a process is: it goes from the
/// lines to the facts.
void take_call_stack(std::vector<PasteLine>& lines, LogFacts& facts);

}  // namespace ringside::hang
