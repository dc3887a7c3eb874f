#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/vocabulary.h"

namespace ringside {

struct CollectiveCall;

/// What all ranks of a call have to agree on. Buffers, in place or not, and a rank's own factor are
/// its own; a field that a collective ignores (the root of an all-reduce, the operation of a
/// broadcast) is the same for all.
struct CallSignature {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  std::int32_t root = 0;
  std::int64_t count = 0;    ///< all_gather_v: of all blocks
  std::uint64_t blocks = 0;  ///< all_gather_v: a digest of the blocks' counts
  friend bool operator==(const CallSignature&, const CallSignature&) = default;
};

/// shape  not send_recv, send, recv: there each pair agrees on its own
CallSignature signature_of(const CollectiveCall& call);

std::string to_string(const CallSignature& signature);  ///< "all_reduce of 1024 float sum"

/// Its form in memory that ranks share, and in messages between ranks.
using CallWords = std::array<std::uint64_t, 3>;
CallWords to_words(const CallSignature& signature);
/// returns  nothing: the words are no signature
std::optional<CallSignature> parse_call_words(const CallWords& words);

}  // namespace ringside
