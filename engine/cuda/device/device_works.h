#pragma once

#include "engine/cuda/device/cuda_primitives.h"

namespace ringside {

/// Runs a warp of a block of a launch: its part of each call in order, if the call has the block's channel. The calls
/// of a connection have the same order on every rank, so the block of one rank never waits for a call that the other
/// rank runs later.
///
/// Ordering   a barrier of the block separates two calls: the step counters that one call stores are those that the
///            next one reads
/// Abort      after a call that a strand has given up, no further call begins
/// Machine    needs, in addition to CudaPrimitives' requirements: keep_block(block), which returns a copy in near
///            memory, made by all warps of the block; begin_work(i, warps_per_strand); and any_in_block(bool), which
///            is the barrier
template <Collective kCollective, typename Machine>
RINGSIDE_HD void run_device_works(Machine& machine, const DeviceLaunch& launch,
                                  int block_of_launch) {
  int place = 0, channel = block_of_launch;
  for (; channel >= launch.channels; channel -= launch.channels) ++place;
  for (int i = 0; i < launch.works; ++i) {
    const DeviceWork& work = launch.work[i];
    bool is_fine = true;
    if (channel < work.channels) {
      const DeviceBlock& block = machine.keep_block(work.blocks[place * work.channels + channel]);
      if (block.rank == launch.absent_rank) return;  // the same for all its calls
      machine.begin_work(i, block.warps_per_strand);
      const int own = work.first_buffers + place;
      is_fine =
          run_device_block<kCollective>(machine, block, launch.buffers[own], launch.windows[own]);
    }
    if (i + 1 < launch.works && machine.any_in_block(!is_fine)) return;
  }
}

}  // namespace ringside
