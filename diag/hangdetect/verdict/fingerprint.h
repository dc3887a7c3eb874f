#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What PyTorch's check of every call (TORCH_DISTRIBUTED_DEBUG=DETAIL) says of one:
/// `SequenceNumber=12 OpType=ALLREDUCE TensorShape=[7] TensorDtypes=Float`.
namespace ringside::hang {

/// Of `[1024, 256]`: 2.
int dimensions_of(std::string_view shape);

/// What stands behind `key`, such as `OpType=`; empty: nothing.
std::string fingerprint_part(const std::string& detail, const std::string& key);

/// -1: it tells none.
std::int64_t fingerprint_sequence(const std::string& detail);

/// The same call, and another place in the order of calls.
bool is_other_sequence(const std::string& a, const std::string& b);

}  // namespace ringside::hang
