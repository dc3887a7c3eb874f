#pragma once

#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// Returns whether the text is an error that PyTorch raises after a kernel or an allocation failed on an NVIDIA or AMD
/// GPU.
bool is_gpu_error(std::string_view text);

/// Returns whether Gloo, MPI or TensorFlow reports in this line that two ranks sent and expected different sizes.
bool reports_other_size(std::string_view line);

/// Returns whether an exception is a communication error, which only reflects a failure of another rank or the network.
bool is_of_communication(std::string_view type, std::string_view text);

/// Returns the store's host, `n01` of `remote=[n01]:29500`; empty if it is not in the line.
std::string_view store_host(std::string_view line);

/// Returns the rank that did not receive a communicator's id, `[3] is setting up NCCL communicator and .. got error`;
/// -1 for another line.
int rank_without_id(std::string_view line);

/// Returns whether a watchdog reports in this line that a call timed out or failed. All versions' wording counts.
bool reports_timeout(std::string_view line);

/// Returns whether ringside's engine reports that a wait ended at its time-out: `rank 0 lost rank 1 on channel 0: waited
/// 5 s for a chunk of step 2`.
/// text  a line of its log, or the reason in a dump
bool is_engine_timeout(std::string_view text);

/// Returns whether an exception's text names the store key of a communicator's id: `wait timeout after 600000ms, keys:
/// /default_pg/0//cuda//0`.
bool names_id_key(std::string_view line);

}  // namespace ringside::hang
