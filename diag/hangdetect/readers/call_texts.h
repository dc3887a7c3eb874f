#pragma once

#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/paste_text.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/record.h"

/// Reads texts that occur in several types of lines: exceptions, tracebacks, reports of PyTorch's dump analyser.
namespace ringside::hang {

/// Adds a statement for each rank's call in `Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=7,
/// OpType=.., TensorShape=[..], ..)`, printed with TORCH_DISTRIBUTED_DEBUG=DETAIL.
void add_fingerprints(const logs::Record& record, Statements& statements);

/// Adds a statement for each `Culprit rank 17; Error type: ..` in the line.
void add_culprits(const logs::Record& record, Statements& statements);

/// Returns the peer in a traceback's source line, `dist.recv(input, 0)` or `dist.send(tensor, dst=1)`; -1 if it has
/// none. Of several calls in the line, the first receive counts, then the first send.
int peer_in(std::string_view line);

/// Removes the stack of the failed call, which PyTorch prints, from the lines and stores it in LogFacts::call_stack. It
/// is not the process's current stack.
/// facts  its call_stack gets at most 64 frames
void extract_call_stack(std::vector<PasteLine>& lines, LogFacts& facts);

}  // namespace ringside::hang
