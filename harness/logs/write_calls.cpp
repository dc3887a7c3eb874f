#include <array>

#include "engine/debuglog/operation_text.h"
#include "harness/logs/noise.h"
#include "harness/logs/write_communicator.h"

namespace ringside {
namespace {

/// Keys of noise(). The buffers use kBuffers keys from kBuffer on; the stream's is among them, but its address has
/// other upper bits.
// Addresses like those that CUDA returns: buffers in the range of device memory, streams on the host's heap.
constexpr std::uint64_t kDeviceMemory = 0x7F0000000000,
                        kBufferBits = 0xFFFFFFFE00;  ///< aligned to 512 bytes
constexpr std::uint64_t kHeap = 0x550000000000, kStreamBits = 0xFFFFFFFF0;  ///< aligned to 16 bytes
constexpr std::uint64_t kBuffers = 64;  ///< a rank's calls use them cyclically

/// The calls of a training step, which repeats: gradients and weights of large and small layers.
struct Call {
  Collective collective;
  std::uint64_t count;  ///< elements, as the call counts them
  DataType type;
};
constexpr std::array<Call, 8> kStep{{
    {Collective::AllGather, 4'194'304, DataType::Bfloat16},
    {Collective::ReduceScatter, 4'194'304, DataType::Bfloat16},
    {Collective::AllReduce, 33'554'432, DataType::Bfloat16},
    {Collective::AllReduce, 8'388'608, DataType::Bfloat16},
    {Collective::AllGather, 1'048'576, DataType::Bfloat16},
    {Collective::ReduceScatter, 1'048'576, DataType::Bfloat16},
    {Collective::AllReduce, 16'384, DataType::Float32},
    {Collective::AllReduce, 1, DataType::Float32},
}};

/// Returns the bytes of the larger of a rank's two buffers.
Bytes bytes_of(const Call& call, int nranks) {
  const Bytes own{call.count * size_of(call.type).value};
  const bool is_spread =
      call.collective == Collective::AllGather || call.collective == Collective::ReduceScatter;
  return is_spread ? own * static_cast<std::uint64_t>(nranks) : own;
}

/// Returns the lines about the chosen algorithm; empty if there is no choice.
std::vector<std::string> chosen_text(const RankView& rank, const Call& call) {
  const Bytes bytes = bytes_of(call, rank.layout().nranks());
  const Result<TunedChoice> choice = rank.layout().tuner().choose(
      {.collective = call.collective, .bytes = bytes, .type = call.type});
  if (!choice) return {};
  // From Hopper on, NCCL launches its kernels in clusters. source  NCCL: CGA cluster size, 4 by default from sm_90 on
  constexpr int kHopper = 90, kHopperCluster = 4;
  const bool has_clusters = rank.layout().job().connection.shape.min_cc >= kHopper;
  std::vector<std::string> lines;
  if (rank.version().is_from(31)) {
    lines =
        best_tuning_text({.collective = call.collective, .comm = rank.facts().pointer}, *choice);
  }
  lines.push_back(choice_text(rank.version(), bytes, *choice, has_clusters ? kHopperCluster : 0));
  return lines;
}

}  // namespace

void write_calls(const RankView& rank, const LogPhase& phase, DebugLog& log) {
  if (!log.shows(Subsystem::Coll | Subsystem::Tuning)) return;
  const LineThread thread = rank.main_thread();
  const CommFacts facts = rank.facts();
  const std::uint64_t seed = rank.job.request().seed;
  const auto process = static_cast<std::uint64_t>(rank.process);
  std::array<std::vector<std::string>, kStep.size()> chosen;
  for (std::size_t i = 0; i < kStep.size(); ++i) chosen[i] = chosen_text(rank, kStep[i]);
  for (int i = phase.first_call; i < phase.end_call; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const Call& call = kStep[number % kStep.size()];
    const std::uint64_t buffer =
        kDeviceMemory | (noise(seed, kBuffer + number % kBuffers, process) & kBufferBits);
    if (log.shows(Subsystem::Coll)) {
      log.info(Subsystem::Coll, thread,
               call_text({.collective = call.collective,
                          .op_count = number,
                          .send_buffer = buffer,
                          .recv_buffer = buffer,
                          .count = call.count,
                          .type = call.type,
                          .comm = facts.pointer,
                          .nranks = facts.nranks,
                          .stream = kHeap | (noise(seed, kStream, process) & kStreamBits)}));
    }
    for (const std::string& line : chosen[number % kStep.size()]) {
      log.info(Subsystem::Tuning, thread, line);
    }
  }
}

}  // namespace ringside
