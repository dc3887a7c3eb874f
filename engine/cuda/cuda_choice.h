#pragma once

#include "base/result.h"
#include "engine/runtime/calls/call.h"
#include "engine/tuning/choice.h"
#include "ringside/units.h"

namespace ringside {

/// What a choice on one GPU depends on.
struct GpuSituation {
  Collective collective = Collective::AllReduce;
  Bytes bytes = {};  ///< bytes_to_choose_by()
  int nranks = 1;
  /// Ranks whose blocks have to be resident on one GPU at a time: those of one launch, and processes that share a GPU. Under
  /// MPS the launches of these run side by side; without it they take turns, and fewer channels do no harm.
  int sharing = 1;
  /// Whether connections keep LL128's lines whole: those through memory of hosts or by PCIe do not.
  bool keeps_lines = true;
  int multiprocessors = 1;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  /// Whether an NVSwitch joins memory of the GPUs of each node: of all ranks alike.
  bool has_switch = false;
  int ranks_per_node = 0;  ///< as HostLayout has it
};

/// What a call's protocol and channels are chosen by: its bytes, but for lists of sends and receives one size for all, since
/// both ends of a transfer have to choose alike, whatever else their calls have.
Bytes bytes_to_choose_by(const CollectiveCall& call, int nranks);

/// How a collective runs among ranks of GPUs: by the settings, else by its length.
///
///   to 32 KiB    ll, and all_reduce by one_shot: one round instead of 2(n - 1)
///   to 512 KiB   ll128, where lines are kept whole
///   beyond       simple, on as many channels as have a multiprocessor each
///
/// All blocks of a launch have to be resident at a time: one a multiprocessor always is. The bounds are not
/// measured yet; bench shows what they should be (--algo, --proto, --channels). Nor is nvls, which runs where it is
/// requested: by the switch (Choice::by_switch) where there is one that does it so, else modelled.
/// errors  as choose_on_host().  InvalidArgument: more channels requested than there are multiprocessors for all that share them.
///         Unsupported: ll128 where lines are not kept whole
Result<Choice> choose_on_gpu(const GpuSituation& situation, const CallWishes& wishes = {});

/// Warps of a strand that have something to do in the call, each 16 bytes a lane: a barrier of more takes longer.
int warps_on_gpu(const Choice& choice, const CollectiveCall& call, int nranks, int strands);

}  // namespace ringside
