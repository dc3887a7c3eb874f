#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/hangs/program.h"
#include "ringside/units.h"

namespace ringside::hangs {

inline constexpr std::int64_t kNever = -1;

/// A call that a rank made, with the times of its stages, in ns of virtual time; kNever: not
/// reached.
struct Record {
  const Step* step = nullptr;     ///< points into the program
  std::int64_t created = 0;       ///< time at which the host enqueued it
  std::int64_t started = kNever;  ///< time at which its stream reached it
  std::int64_t moving = kNever;   ///< time at which the last rank that it depends on entered
  std::int64_t completed = kNever;
  /// Number of the group's collective; a transfer keeps the previous number.
  std::int32_t collective_seq = 0;
  std::int32_t p2p_seq = 0;
  std::int32_t iteration = 0;
  [[nodiscard]] std::int32_t seq() const { return is_p2p(step->op) ? p2p_seq : collective_seq; }
};

/// The state of a rank's host when the play ended.
struct RankEnd {
  enum class Host : std::uint8_t {
    Finished,     ///< ran its program to the end
    Halted,       ///< stopped by the fault
    WaitsForGpu,  ///< in a synchronize, or in a launch while the GPU's queue is full
    WaitsForHost  ///< in a rendezvous, or in the creation of a group
  };
  Host host = Host::Finished;
  Halt halt = Halt::None;
  int site = -1;               ///< step at which it stopped: index in Outline::steps; -1: finished
  int group = -1;              ///< group of a rendezvous; else -1
  std::int64_t host_time = 0;  ///< virtual time of its last progress, ns
};

/// A kernel other than a call.
struct Kernel {
  std::int64_t started = 0, completed = 0;
  std::int32_t iteration = 0;
};

/// All that one rank did.
struct RankHistory {
  std::vector<Record> records;  ///< in the order of the calls
  std::vector<Kernel> kernels;  ///< in the order of their end times
  RankEnd end;
};

/// A fault of the network.
struct NetworkFault {
  int group = -1;  ///< group whose call `seq` is affected; -1: none
  /// Number of the affected call.
  int seq = 0;
  /// Delay of the call; 0: the call never completes, although all members enter it.
  Nanoseconds by{};
  /// Global rank: the fault affects this rank's sends to `receiver` with number `seq`. -1: it
  /// affects a collective.
  int sender = -1;
  int receiver = -1;
};

/// The history of a simulated run.
struct Play {
  std::vector<RankHistory> ranks;
  [[nodiscard]] bool is_hung() const;
};

/// The durations of a play.
struct PlayTimes {
  /// Returns the duration of a call, from the entry of its last member; empty: usual_time(). For
  /// bundled calls it gets the combined call that play() describes.
  std::function<Nanoseconds(const Step& call, const Group& group)> call = {};
  /// Returns the minimum duration of a transfer on the connection between two job ranks; empty: 0.
  /// It gets the combined send of all data that goes to that rank at once.
  std::function<Nanoseconds(const Step& send, const Group& group, int from, int to)> transfer = {};
  /// True: durations are exact. False: the seed varies them by a few per cent.
  bool is_even = false;
};

/// Returns 20 us plus the time of its bytes at 50 GB/s.
Nanoseconds usual_time(const Step& call);

/// Simulates all ranks until no rank makes progress.
///
/// A host continues as soon as a call is enqueued. On each rank, each group has a stream for
/// collectives, each pair of ranks of a group has one for transfers, and other kernels have one,
/// unless a step names its stream. A kernel starts when the earlier kernels on its stream have
/// ended, and those that the host had waited for when it enqueued the kernel.
///
/// Sends and receives that begin together are one kernel on the stream of their group's
/// collectives: they start together, and end with the last one. They share the rank's outgoing and
/// incoming bandwidth: a transfer takes the longer of the combined sends of the sender and the
/// combined receives of the receiver. Collectives that begin together share channels; they are
/// simulated one after the other, which takes the same time.
///
/// A collective completes when every member is in its k-th call of the group and all k-th calls
/// agree. Calls that disagree never complete. A send completes with the k-th receive of that pair,
/// if their counts and types are equal. The root of a broadcast of at most 64 KiB does not wait for the
/// others: the data fits in the slots.
///
/// The host takes 10 us to enqueue a kernel. It waits while 1,000 of its kernels have not ended.
Play play(const Program& program, const NetworkFault& network, std::uint64_t seed,
          const PlayTimes& times = {});

}  // namespace ringside::hangs
