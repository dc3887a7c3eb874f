#pragma once

#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// The errors that PyTorch raises where a kernel or an allocation failed on a GPU of NVIDIA or AMD.
bool is_gpu_error(std::string_view text);

/// Whether the line reports that two ranks sent and expected different sizes, as Gloo, MPI and TensorFlow notice it.
bool reports_other_size(std::string_view line);

/// Errors that only reflect a failure elsewhere.
bool is_of_communication(std::string_view type, std::string_view text);

/// `n01` of `remote=[n01]:29500`: where the store was.  returns  empty: not in the line
std::string_view store_host(std::string_view line);

/// The rank that did not receive a communicator's id: `[3] is setting up NCCL communicator and .. got error`.
/// returns  -1: none
int rank_without_id(std::string_view line);

/// Whether a watchdog reports that a call timed out or failed, in any form of the line.
bool reports_timeout(std::string_view line);

/// An exception alone, `wait timeout after 600000ms, keys: /default_pg/0//cuda//0`: the key of a communicator's id.
bool names_id_key(std::string_view line);

}  // namespace ringside::hang
