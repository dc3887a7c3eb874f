#pragma once

#include "engine/cuda/device/cuda_primitives.h"

namespace ringside {

/// What each warp of a block of a launch does: its part of call after call, where they have the block's channel. Calls of a
/// connection follow each other on every rank in the same order, so what one rank's block waits for is never behind
/// what it has not come to.
///
/// Ordering   a barrier of the block separates two calls: the steps that one has kept are those with which the next begins
/// Abort      behind a call that a strand has given up none begins
/// Machine    has, besides what CudaPrimitives asks for, keep_block(block), which returns a copy in near memory, made by all warps of the block;
///            begin_work(i, warps_per_strand); and any_in_block(bool), the barrier
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
      if (block.rank == launch.absent_rank) return;  // of all its works alike
      machine.begin_work(i, block.warps_per_strand);
      const int own = work.first_buffers + place;
      is_fine =
          run_device_block<kCollective>(machine, block, launch.buffers[own], launch.windows[own]);
    }
    if (i + 1 < launch.works && machine.any_in_block(!is_fine)) return;
  }
}

}  // namespace ringside
