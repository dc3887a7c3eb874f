#pragma once

#include <cstdint>

#include "engine/collectives/integers.h"
#include "engine/collectives/primitives.h"
#include "engine/collectives/run.h"
#include "engine/cuda/device/kernel_collective.h"
#include "engine/cuda/device/move_lines.h"
#include "engine/cuda/device/move_simple.h"

namespace ringside {

/// The Primitives model for GPUs: the warps of one strand move a chunk through slots in device memory, one slot at a
/// time. Each warp has its own object; all warps of a strand take the same steps.
///
/// Machine    the platform: GpuMachine in kernels, the tests' fibres on hosts (README.md)
/// Switch     for ports of a group whose switch does the work (switch_slots.h), load_reduced() lets the switch reduce
///            the data at one place of all members' slots, and multicast_pack() lets it store 16 bytes to all of them.
///            The switch determines the order in which floats are summed, and rounds 16-bit sums once: results equal
///            those of HostPrimitives if the sums are exact
/// Reduction  if kReduces: own input first, then the received data, end after end; each operation rounds to the
///            element. A division after the sum is done where an output is written. Results are bit-identical to those
///            of HostPrimitives
/// Ordering   see device_ends.h, move_simple.h, move_lines.h
/// Abort      after a wait that was given up, each step returns at once, on all warps of the strand
template <bool kReduces, typename Machine>
class CudaPrimitives : public NamedPrimitives<CudaPrimitives<kReduces, Machine>> {
 public:
  RINGSIDE_HD CudaPrimitives(Machine& machine, const DeviceBlock& block,
                             const DeviceBuffers& buffers, std::int64_t window, int strand)
      : machine_(machine),
        block_(block),
        buffers_(buffers),
        view_{&block.task, block.tables},
        ends_(machine, block),
        strand_(strand) {
    ends_.credits().begin_call(strand, buffers.output, window);
  }

  RINGSIDE_HD void begin_loop(std::int64_t loop) {
    loop_ = loop;
    if (block_.direct.first == nullptr) return;
    const int place = view_.turn_of(loop) * view_.role().strands.count + strand_;
    direct_ = block_.direct.steps + block_.direct.first[place];
  }

  template <Primitive kPrimitive>
  RINGSIDE_HD void step(int chunk, Ports from, Ports to) {
    run(kPrimitive, chunk, from, to);
  }

  /// Ends the call after the strand's last step.
  /// returns  false: the strand has given up
  RINGSIDE_HD bool finish() {
    if (machine_.warp() == 0) ends_.credits().end_call(strand_);
    return !has_failed_;
  }

 private:
  RINGSIDE_HD_CALL void run(Primitive primitive, int chunk, Ports from, Ports to) {
    if (has_failed_) return;
    const DirectStep direct = direct_ == nullptr ? DirectStep{} : *direct_++;
    const ChunkSpan span = view_.at(loop_, chunk);
    const std::int64_t begin_ns = block_.events == nullptr ? 0 : machine_.now_ns();
    const std::int64_t bytes = span.count * block_.element;
    DeviceSlice slice{.parts = parts_of(primitive),
                      .from = ends_.recv_ends(from),
                      .to = ends_.send_ends(to),
                      .direct = direct};
    const std::int64_t place =
        is_point_to_point(view_.task->rule.collective) ? span.input : span.output;
    const bool travels = slice.parts.receives || slice.parts.sends;
    for (std::int64_t done = 0; done < bytes && !has_failed_; done += slice.bytes) {
      slice.bytes = smaller(travels ? block_.slot : bytes, bytes - done);
      slice.input = buffers_.input + span.input * block_.element + done;
      slice.output = buffers_.output + span.output * block_.element + done;
      slice.place = place * block_.element + done;
      has_failed_ = !move(slice);
    }
    if (block_.events != nullptr) {
      record(primitive, slice.parts.writes_output ? span.output : span.input, span.count,
             slice.from, slice.to, begin_ns);
    }
    ++step_;
  }

  RINGSIDE_HD bool move(const DeviceSlice& slice) {
    switch (block_.protocol) {
      case Protocol::LL:
        return move_lines<kReduces, LlUnits>(machine_, block_, ends_, slice);
      case Protocol::LL128:
        return move_lines<kReduces, Ll128Units>(machine_, block_, ends_, slice);
      case Protocol::Simple:
        break;
    }
    return move_simple<kReduces>(machine_, block_, ends_, slice);
  }

  /// Takes its arguments by value: arguments whose address is taken are kept in memory instead of registers.
  RINGSIDE_HD_CALL void record(Primitive primitive, std::int64_t offset, std::int64_t count,
                               std::uint64_t from, std::uint64_t to, std::int64_t begin_ns) {
    if (machine_.warp() != 0) return;
    DeviceEventList& list = block_.events[strand_];
    machine_.each_lane([&](int lane) {
      if (lane != 0) return;
      if (list.count < list.capacity) {
        DeviceEvent& event = list.events[list.count];
        event.begin_ns = begin_ns;
        event.end_ns = machine_.now_ns();
        event.offset = offset;
        event.count = count;
        event.step = step_;
        event.recv_peer = event.send_peer = -1;
        for_each_bit(from, [&](int end) {
          if (event.recv_peer < 0) {
            event.recv_peer = static_cast<std::int16_t>(block_.recv_ends[end].peer);
          }
        });
        for_each_bit(to, [&](int end) {
          if (event.send_peer < 0) {
            event.send_peer = static_cast<std::int16_t>(block_.send_ends[end].peer);
          }
        });
        event.primitive = primitive;
        event.strand = static_cast<std::uint8_t>(strand_);
      }
      ++list.count;
    });
  }

  Machine& machine_;
  const DeviceBlock& block_;
  const DeviceBuffers buffers_;
  const DeviceTaskView view_;
  DeviceEnds<Machine> ends_;
  const int strand_;
  std::int64_t loop_ = 0;
  /// Direct part of the current step; null: all messages use slots
  const DirectStep* direct_ = nullptr;
  std::uint32_t step_ = 0;
  bool has_failed_ = false;
};

/// A DeviceTaskView whose collective is a constant, so that a kernel contains only the algorithms of its own
/// collective.
template <Collective kCollective>
struct TaskOfCollective {
  DeviceTaskView view;
  Role fixed;

  RINGSIDE_HD explicit TaskOfCollective(const DeviceTaskView& of) : view(of), fixed(of.role()) {
    fixed.collective = kCollective;
  }
  [[nodiscard]] RINGSIDE_HD const Role& role() const { return fixed; }
  [[nodiscard]] RINGSIDE_HD RoundList round_list() const { return view.round_list(); }
  [[nodiscard]] RINGSIDE_HD std::int64_t loops() const { return view.loops(); }
  [[nodiscard]] RINGSIDE_HD int turn_of(std::int64_t loop) const { return view.turn_of(loop); }
};

/// Runs one warp of a block: the steps of its strand, from the first to the last. Warps without a strand do nothing.
/// kCollective  the block's collective, or one with the same algorithm: all_gather for all_gather_v, send_recv for any
///              exchange
/// window       window of the output: DeviceLaunch::windows
/// returns      false: the strand has given up
template <Collective kCollective, typename Machine>
RINGSIDE_HD bool run_device_block(Machine& machine, const DeviceBlock& block,
                                  const DeviceBuffers& buffers, std::int64_t window) {
  const int strand = machine.strand();
  const TaskOfCollective<kCollective> task({&block.task, block.tables});
  if (strand >= task.role().strands.count) return true;
  constexpr bool kReduces = kCollective == Collective::AllReduce ||
                            kCollective == Collective::ReduceScatter ||
                            kCollective == Collective::Reduce;
  CudaPrimitives<kReduces, Machine> model(machine, block, buffers, window, strand);
  run_strand_alone(model, task, strand);
  return model.finish();
}

}  // namespace ringside
