#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Reads fingerprints: entries of PyTorch's check of every call (TORCH_DISTRIBUTED_DEBUG=DETAIL), such as
/// `SequenceNumber=12 OpType=ALLREDUCE TensorShape=[7] TensorDtypes=Float`.
namespace ringside::hang {

/// Returns the number of dimensions of a shape: 2 for `[1024, 256]`, 0 for `[]` or a text without digits.
int dimensions_of(std::string_view shape);

/// Returns the value after `key`, such as `OpType=`; empty if the fingerprint lacks the key.
std::string fingerprint_part(const std::string& detail, const std::string& key);

/// Returns the sequence number, or -1 if the fingerprint has none.
std::int64_t fingerprint_sequence(const std::string& detail);

/// Returns whether two fingerprints are equal except for their sequence numbers.
bool is_other_sequence(const std::string& a, const std::string& b);

}  // namespace ringside::hang
