#pragma once

#include "base/result.h"
#include "engine/runtime/calls/call.h"
#include "engine/tuning/choice.h"
#include "ringside/units.h"

namespace ringside {

/// The inputs of choose_on_gpu().
struct GpuSituation {
  Collective collective = Collective::AllReduce;
  Bytes bytes = {};  ///< bytes_to_choose_by()
  int nranks = 1;
  /// Ranks whose blocks must be resident on one GPU at the same time: the ranks of one launch, or the processes that
  /// share a GPU. Under MPS, launches of several processes run concurrently; without MPS they run alternately, and
  /// using fewer channels does no harm.
  int sharing = 1;
  /// Whether connections transfer LL128's lines atomically. Connections through host memory or PCIe do not.
  bool keeps_lines = true;
  int multiprocessors = 1;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  /// Whether an NVSwitch joins memory of the GPUs of each node: of all ranks alike.
  bool has_switch = false;
  int ranks_per_node = 0;  ///< HostLayout::ranks_per_node
};

/// Returns the size by which a call's protocol and channels are chosen: its bytes. For lists of sends and receives it
/// is a fixed size, since both ends of a transfer must choose alike.
Bytes bytes_to_choose_by(const CollectiveCall& call, int nranks);

/// Chooses how a collective runs among ranks of GPUs: by the user's settings, else by its size.
///
///   up to 32 KiB    ll, and all_reduce by one_shot: one round instead of 2(n - 1)
///   up to 512 KiB   ll128, if connections keep lines whole
///   above           simple, with a channel for each 128 KiB, on at most kMaxChannels and one per available multiprocessor
///
/// All blocks of a launch must be resident at a time, which is certain with one block for each multiprocessor. The
/// bounds are not measured yet; `bench` can show what they should be (--algo, --proto, --channels). nvls runs only if
/// requested: in the switch (Choice::by_switch) if there is one that supports the call, else modelled.
/// errors  as choose_on_host().  InvalidArgument: more channels requested than multiprocessors available to each rank
///         that shares the GPU. Unsupported: ll128 where lines are not kept whole
Result<Choice> choose_on_gpu(const GpuSituation& situation, const CallSettings& settings = {});

/// Returns the number of warps of a strand that have work in the call, with 16 bytes per lane: more warps would only
/// slow down barriers.
int warps_on_gpu(const Choice& choice, const CollectiveCall& call, int nranks, int strands);

}  // namespace ringside
