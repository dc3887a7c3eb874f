#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ringside/trace_reader.h"
#include "study/asked_job.h"
#include "trace/call_statistics.h"

namespace ringside::study {

/// The hosts that a trace was recorded on, as far as its values state them.
struct TracedHosts {
  JobOptions job;
  std::string source;  ///< "dgx-h100, which the trace names"
};

/// Returns the preset that the trace names, or the one of its GPUs. A trace cannot make this program read a file: other
/// texts than the names of presets are ignored.
/// returns  nullopt: the trace states no known hosts
std::optional<TracedHosts> hosts_of_trace(const TraceFile& file);

/// What the predictions of a trace's calls have in common.
struct ExpectedBusbw {
  double error_percent = 0;        ///< as error_percent_of(); 0: nothing was predicted
  std::vector<std::string> notes;  ///< calls without a prediction, each kind once
};

/// Sets CallSummary::expected_busbw of the trace's collectives: the busbw that CallClock, and so `sim`, predicts for the
/// call on those hosts. Rank r is GPU r mod G of host r / G. Communicators of the same size whose ranks share hosts call
/// at the same time.
///
/// A call has no prediction if it is a transfer, if it has no size or one of more than 1 TiB, if the ranks of its
/// communicator are unknown, or if it is not among the 64 kinds of calls that move the most bytes. A communicator of
/// all ranks is known; of another one, each rank must have a call in the trace.
///
/// on_progress  called with the completed share; may be empty
/// errors       as CallClock::make(); Unsupported: more than 4096 ranks
Result<ExpectedBusbw> expect_busbw(const JobOptions& job, const TraceFile& file,
                                   std::vector<CallSummary>& calls,
                                   const std::function<void(double)>& on_progress = {});

}  // namespace ringside::study
