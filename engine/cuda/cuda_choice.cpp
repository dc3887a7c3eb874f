#include "engine/cuda/cuda_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/collectives/ports.h"
#include "engine/cuda/device/device_call.h"
#include "engine/cuda/device/switch_reduce.h"
#include "engine/cuda/gpu/kernels.h"
#include "engine/protocol/slot_size.h"
#include "engine/reduce/reduce_op.h"
#include "engine/runtime/host/host_choice.h"

namespace ringside {
namespace {

constexpr Bytes kLongestLl{32 << 10};
constexpr Bytes kLongestLl128{512 << 10};
/// A channel with less data than this costs more time than it saves.
constexpr std::uint64_t kLeastOfChannel = 128 << 10;
/// 2 ranks on 132 multiprocessors keep 128 of them busy.
constexpr int kMostGpuChannels = kMaxChannels;

Protocol usual_protocol(const GpuSituation& at, Algorithm algorithm) {
  if (facts_of(algorithm).is_simple_only || at.bytes > kLongestLl128) return Protocol::Simple;
  if (at.bytes <= kLongestLl) return Protocol::LL;
  return at.keeps_lines ? Protocol::LL128 : Protocol::Simple;
}

int usual_channels(const GpuSituation& at) {
  const int room = std::max(1, at.multiprocessors / at.sharing);
  const auto wanted = static_cast<int>(
      std::clamp<std::uint64_t>(at.bytes.value / kLeastOfChannel, 1, kMostGpuChannels));
  return std::min(room, wanted);
}

/// Returns the operation that is applied between elements, as DeviceReduction::between.
RedOp between_of(RedOp op) { return op == RedOp::Avg || op == RedOp::PreMulSum ? RedOp::Sum : op; }

/// Returns whether the NVLink switch runs what the algorithm uses a switch for. If a network would also have to
/// reduce, the switch is modelled together with it.
bool runs_by_switch(const GpuSituation& at, const Choice& choice) {
  const AlgorithmFacts& facts = facts_of(choice.algorithm);
  if (!at.has_switch || !facts.takes_nvswitch || choice.protocol != Protocol::Simple) return false;
  const int played = facts.needs_nodes ? played_ranks_per_node(at.nranks) : at.nranks;
  const int node = at.ranks_per_node != 0 ? at.ranks_per_node : played;
  if (node < 2 || facts.uses_collnet(at.nranks / node)) return false;
  return !is_reduction(at.collective) || switch_reduces(at.type, between_of(at.op));
}

}  // namespace

Bytes bytes_to_choose_by(const CollectiveCall& call, int nranks) {
  constexpr Bytes kOfLists{1 << 20};  // for Simple on several channels
  if (is_listed(call)) return kOfLists;
  return call_bytes(call.collective, shape_of(call), nranks);
}

Result<Choice> choose_on_gpu(const GpuSituation& situation, const CallSettings& settings) {
  const bool is_short = situation.collective == Collective::AllReduce &&
                        situation.bytes <= kLongestLl && situation.nranks <= kMaxPortsInSet;
  Choice choice;
  choice.collective = situation.collective;
  choice.algorithm = is_short ? Algorithm::OneShot : Algorithm::Ring;
  choice.slots_per_chunk = kMaxSlotsPerChunk / 2;
  if (settings.algorithm) {
    RINGSIDE_TRY(check_algorithm(situation.collective, *settings.algorithm));
    choice.algorithm = *settings.algorithm;
  }
  choice.protocol = settings.protocol.value_or(usual_protocol(situation, choice.algorithm));
  if (choice.protocol == Protocol::LL128 && !situation.keeps_lines) {
    return Error{ErrorCode::Unsupported, "ll128 through memory of hosts, or by PCIe",
                 "its lines are whole on a GPU and by NVLink alone: request ll or simple"};
  }
  RINGSIDE_TRY(
      check_reduction(situation.collective, choice.algorithm, situation.type, situation.op));
  choice.by_switch = runs_by_switch(situation, choice);
  choice.nchannels = settings.nchannels != 0 ? settings.nchannels : usual_channels(situation);
  if (choice.nchannels * situation.sharing > situation.multiprocessors) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} channels of {} ranks on {} multiprocessors", choice.nchannels,
                             situation.sharing, situation.multiprocessors),
                 "all of them have to run at the same time: request fewer channels or ranks"};
  }
  choice.slot = settings.slot.value != 0 ? settings.slot : nccl_slot_size(choice.protocol);
  return make_choice(choice);
}

int warps_on_gpu(const Choice& choice, const CollectiveCall& call, int nranks, int strands) {
  constexpr std::uint64_t kBytesOfWarp = 16 * kLanesOfWarp;
  const int most = kMostThreadsOfBlock / kLanesOfWarp / strands;
  const std::uint64_t bytes = call_bytes(call.collective, shape_of(call), nranks).value;
  const std::uint64_t of_channel = bytes / static_cast<std::uint64_t>(choice.nchannels);
  return static_cast<int>(
      std::clamp<std::uint64_t>(of_channel / kBytesOfWarp, 1, static_cast<std::uint64_t>(most)));
}

}  // namespace ringside
