#pragma once

#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// What PyTorch raises where a kernel or an allocation failed on a GPU, of NVIDIA's or AMD's.
bool is_gpu_error(std::string_view text);

/// Two ranks sent and expected different sizes, as Gloo, MPI and TensorFlow notice it.
bool tells_of_other_size(std::string_view line);

/// Errors that only say that something else went wrong elsewhere.
bool is_of_communication(std::string_view type, std::string_view text);

/// `n01` of `remote=[n01]:29500`: where the store was.  returns  empty: the line does not say
std::string_view store_host(std::string_view line);

/// Who waited for a communicator's id in vain: `[3] is setting up NCCL communicator and .. got error`.  returns  -1: nobody
int rank_without_id(std::string_view line);

/// A watchdog's words of a call that timed out or failed, whatever form the line is in.
bool tells_of_timeout(std::string_view line);

/// An exception alone, `wait timeout after 600000ms, keys: /default_pg/0//cuda//0`: the key of a communicator's id.
bool names_id_key(std::string_view line);

}  // namespace ringside::hang
