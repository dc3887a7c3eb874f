#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/vocabulary.h"

namespace ringside {

struct CollectiveCall;

/// The properties of a call that must be equal on all ranks. Buffers and a rank's PreMulSum factor may differ. A field
/// that a collective ignores (the root of an all-reduce, the operation of a broadcast) has a fixed value.
struct CallSignature {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  std::int32_t root = 0;
  std::int64_t count = 0;    ///< elements; for all_gather_v the sum over all blocks
  std::uint64_t blocks = 0;  ///< all_gather_v only: a hash of the blocks' counts
  bool is_end = false;       ///< no call: the rank has left the communicator
  friend bool operator==(const CallSignature&, const CallSignature&) = default;
};

/// Returns the call's signature.
/// shape  any collective except send_recv, send and recv, where only each pair has to agree
CallSignature signature_of(const CollectiveCall& call);

/// Returns a text such as "all_reduce of 1024 float sum".
std::string to_string(const CallSignature& signature);

/// The encoded signature, as stored in shared memory and sent between ranks.
using CallWords = std::array<std::uint64_t, 3>;
CallWords to_words(const CallSignature& signature);
/// returns  the signature, or nothing if the words do not encode one
std::optional<CallSignature> parse_call_words(const CallWords& words);

}  // namespace ringside
