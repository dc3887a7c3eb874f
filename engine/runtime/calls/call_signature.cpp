#include "engine/runtime/calls/call_signature.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "base/fnv.h"
#include "base/vocabulary.h"
#include "engine/runtime/calls/call.h"

namespace ringside {
namespace {

constexpr std::uint64_t kEndBit = 1U << 31;  ///< of a word whose bits 16 to 30 are the collective

/// Returns a hash over the bytes of the counts, lowest first.
std::uint64_t digest(const std::vector<std::int64_t>& counts) {
  std::uint64_t hash = kFnvBegin;
  for (const std::int64_t count : counts) {
    const auto bits = static_cast<std::uint64_t>(count);
    for (unsigned shift = 0; shift < 64; shift += 8) hash = fnv_with(hash, (bits >> shift) & 0xff);
  }
  return hash;
}

}  // namespace

CallSignature signature_of(const CollectiveCall& call) {
  CallSignature signature{
      .collective = call.collective, .type = call.type, .op = RedOp::Sum, .count = call.count};
  if (is_reduction(call.collective)) signature.op = call.op;
  if (has_root(call.collective)) signature.root = to_int(call.root);
  if (call.collective == Collective::AllGatherV) {
    signature.count = std::accumulate(call.counts.begin(), call.counts.end(), std::int64_t{0});
    signature.blocks = digest(call.counts);
  }
  return signature;
}

std::string to_string(const CallSignature& signature) {
  if (signature.is_end) return "nothing: it has left the communicator";
  std::string text = fmt::format("{} of {} {}", to_string(signature.collective), signature.count,
                                 to_string(signature.type));
  if (is_reduction(signature.collective)) text += fmt::format(" {}", to_string(signature.op));
  if (has_root(signature.collective)) text += fmt::format(" with root {}", signature.root);
  if (signature.collective == Collective::AllGatherV) {
    text += fmt::format(" in all, in blocks whose counts have digest {:016x}", signature.blocks);
  }
  return text;
}

CallWords to_words(const CallSignature& signature) {
  return {static_cast<std::uint64_t>(signature.count), signature.blocks,
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(signature.root)) << 32 |
              (signature.is_end ? kEndBit : 0) |
              static_cast<std::uint64_t>(signature.collective) << 16 |
              static_cast<std::uint64_t>(signature.type) << 8 |
              static_cast<std::uint64_t>(signature.op)};
}

std::optional<CallSignature> parse_call_words(const CallWords& words) {
  const std::uint64_t collective = words[2] >> 16 & 0x7fff;
  const std::uint64_t type = words[2] >> 8 & 0xff;
  const std::uint64_t op = words[2] & 0xff;
  if (collective > static_cast<std::uint64_t>(Collective::AllGatherV) ||
      type > static_cast<std::uint64_t>(DataType::Float8E5m2) ||
      op > static_cast<std::uint64_t>(RedOp::PreMulSum)) {
    return std::nullopt;
  }
  return CallSignature{.collective = static_cast<Collective>(collective),
                       .type = static_cast<DataType>(type),
                       .op = static_cast<RedOp>(op),
                       .root = static_cast<std::int32_t>(words[2] >> 32),
                       .count = static_cast<std::int64_t>(words[0]),
                       .blocks = words[1],
                       .is_end = (words[2] & kEndBit) != 0};
}

}  // namespace ringside
