#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// An entry of PyTorch's check of every call (TORCH_DISTRIBUTED_DEBUG=DETAIL): `SequenceNumber=12 OpType=ALLREDUCE
/// TensorShape=[7] TensorDtypes=Float`.
namespace ringside::hang {

/// The number of dimensions: 2 for `[1024, 256]`.
int dimensions_of(std::string_view shape);

/// The text after `key`, such as `OpType=`; empty: no such key.
std::string fingerprint_part(const std::string& detail, const std::string& key);

/// The sequence number; -1: none.
std::int64_t fingerprint_sequence(const std::string& detail);

/// Whether both are the same call at different places in the order of calls.
bool is_other_sequence(const std::string& a, const std::string& b);

}  // namespace ringside::hang
