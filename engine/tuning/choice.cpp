#include "engine/tuning/choice.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ringside {
namespace {

constexpr Bytes kGrain = 512_B;  // channel sizes are multiples of this; a slot holds whole ones
constexpr Bytes kLargestSlot = 64_MiB;

Error out_of_range(const char* what, const std::string& value, const std::string& help) {
  return {ErrorCode::InvalidArgument, fmt::format("{} cannot be {}", what, value), help};
}

}  // namespace

Result<Choice> make_choice(Choice choice) {
  if (choice.nchannels < 1 || choice.nchannels > kMaxChannels) {
    return out_of_range("the number of channels", fmt::format("{}", choice.nchannels),
                        fmt::format("give 1 to {}", kMaxChannels));
  }
  if (choice.slot < kGrain || choice.slot > kLargestSlot || choice.slot.value % kGrain.value != 0) {
    return out_of_range("the slot size", format_bytes(choice.slot),
                        "give a multiple of 512 bytes, at most 64M");
  }
  if (choice.slots_per_chunk < 1 || choice.slots_per_chunk > kMaxSlotsPerChunk) {
    return out_of_range(
        "the number of slots a chunk takes", fmt::format("{}", choice.slots_per_chunk),
        fmt::format("give 1 to {}: two chunks must fit the {} slots of a connection",
                    kMaxSlotsPerChunk, kSlots));
  }
  choice.chunk = choice.slot * static_cast<std::uint64_t>(choice.slots_per_chunk);
  return choice;
}

}  // namespace ringside
