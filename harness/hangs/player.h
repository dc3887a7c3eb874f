#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/hangs/program.h"
#include "ringside/units.h"

namespace ringside::hangs {

inline constexpr std::int64_t kNever = -1;

/// One call that a rank made, with what became of it. Times are nanoseconds of virtual time.
struct Record {
  const Step* step = nullptr;     ///< lives as long as the program
  std::int64_t created = 0;       ///< the host enqueued it
  std::int64_t started = kNever;  ///< its stream reached it
  std::int64_t moving = kNever;   ///< all ranks that it waits for had come
  std::int64_t completed = kNever;
  std::int32_t collective_seq = 0;  ///< calls of the group so far; a transfer leaves it as it was
  std::int32_t p2p_seq = 0;
  std::int32_t iteration = 0;
  [[nodiscard]] std::int32_t seq() const { return is_p2p(step->op) ? p2p_seq : collective_seq; }
};

/// The last position of a rank's host before nothing moved any more.
struct RankEnd {
  enum class Host : std::uint8_t {
    Finished,     ///< ran its program to the end
    Halted,       ///< by the fault
    WaitsForGpu,  ///< in a synchronize
    WaitsForHost  ///< in a rendezvous, or in the creation of a group
  };
  Host host = Host::Finished;
  Halt halt = Halt::None;
  int site = -1;               ///< the line that it is at; -1 when finished
  int group = -1;              ///< of a rendezvous
  std::int64_t host_time = 0;  ///< when it got there
};

/// A kernel that is no call.
struct Kernel {
  std::int64_t started = 0, completed = 0;
  std::int32_t iteration = 0;
};

struct RankHistory {
  std::vector<Record> records;  ///< in the order of the calls
  std::vector<Kernel> kernels;  ///< in the order of their ends
  RankEnd end;
};

/// Whatever the network does wrong.
struct NetworkFault {
  int group = -1;  ///< the call `seq` of it never completes, although all are in it;
  int seq = 0;
  Nanoseconds by{};  ///< or takes so much longer, where this is not 0
  int sender =
      -1;  ///< global rank: it is this one's sends to `receiver` with that number; -1: a collective
  int receiver = -1;
};

/// What happened.
struct Play {
  std::vector<RankHistory> ranks;
  [[nodiscard]] bool is_hung() const;
};

/// How long things take.
struct PlayTimes {
  /// Of a call, from when its last member has come; empty: usual_time(). Of one that begins with others it is asked as
  /// they share what carries them: play().
  std::function<Nanoseconds(const Step& call, const Group& group)> call = {};
  /// What a transfer takes at least, by the connection between its two ranks alone; empty: nothing. It is asked of what goes
  /// to that rank at once, with ranks of the job.
  std::function<Nanoseconds(const Step& send, const Group& group, int from, int to)> transfer = {};
  bool is_even =
      false;  ///< everything takes just that; else some per cent more or less, by the seed
};

/// 20 us and its bytes at 50 GB/s.
Nanoseconds usual_time(const Step& call);

/// Plays all ranks against each other until nothing moves.
///
/// A host goes on as soon as a call is enqueued. Each group has a stream of its own on a rank, and each
/// pair of ranks of a group one for its transfers, and kernels that are no calls have one, but for what names another; a
/// kernel starts when those before it on the stream are done and what the host had waited for at its enqueueing is done.
///
/// Sends and receives that begin together are one kernel, on the stream of their group's collectives: they start together,
/// and are done when the last is. They share the rank's way out, and the way in: a transfer takes as long as one of all that
/// the sender sends at once, or that the receiver receives, whichever is more. Collectives that begin together share the
/// channels: they take as long as one after the other, and are played so.
///
/// A collective completes when
/// every member is in its k-th call of the group and all k-th calls agree; calls that disagree never
/// do. A send completes with the k-th receive of that pair, of equal length. The root of a broadcast
/// of at most 64 KiB does not wait for the others: the data fits in the slots.
///
/// The host takes 10 us to enqueue a kernel.
Play play(const Program& program, const NetworkFault& network, std::uint64_t seed,
          const PlayTimes& times = {});

}  // namespace ringside::hangs
