#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"
#include "engine/collectives/chunk_map.h"
#include "engine/collectives/primitives.h"
#include "engine/collectives/task.h"
#include "engine/reduce/reduce_op.h"
#include "engine/runtime/calls/failure.h"
#include "engine/runtime/host/host_ports.h"
#include "engine/runtime/host/wait.h"
#include "engine/transport/shm/shared_memory.h"
#include "ringside/trace_event.h"

namespace ringside {

class TraceLane;
class TraceRecorder;

/// The model that moves real bytes: a chunk goes through the connections' slots, a slot at a time, so
/// that the next rank starts on the first slice while this one still works on the second.
///
/// In place   where a connection reaches memory and both buffers lie in SharedMemory, a send says where the
///            bytes lie, and the receiver reads them there; sums that come back (returns_results) are written
///            straight into the buffers of those that wait for them
/// Reduction  own input first, then what arrives, end after end. Sums travel as they are; what is divided
///            after the sum is divided where an output is written, whichever way the sum has come.
/// Threads    one a channel
/// Ordering   slices of a chunk in order; both sides cut a chunk alike, because they share the map. Of an exchange, each
///            transfer's; none waits for another
/// Ownership  everything in Setup outlives the object
class HostPrimitives : public NamedPrimitives<HostPrimitives> {
 public:
  struct Setup {
    const ChunkMap* map = nullptr;
    HostPorts* ports = nullptr;
    Connections* connections = nullptr;  ///< of ports that miss some; null: they miss none
    Bytes slot;                          ///< of all of the ports' connections
    const std::byte* input = nullptr;
    std::byte* output = nullptr;       ///< may be the input's own place: in place
    Bytes element;                     ///< size of one element
    const ReduceOp* reduce = nullptr;  ///< null: the collective reduces nothing
    /// Whether outputs bypass the caches: they are larger than those, and are not read soon.
    bool is_streaming = false;
    /// As of the algorithm's facts: then a reference says where the result may be put.
    bool returns_results = false;
    /// Whether an input in place stays as it is until all have read it.
    bool keeps_input = false;
    const WaitPolicy* wait = nullptr;
    const WaitPolicy* wait_for_missing = nullptr;  ///< the same while ports are missing
    Failure* failure =
        nullptr;                ///< where the first Error goes; once it holds one, steps do nothing
    TraceLane* lane = nullptr;  ///< null: not traced
    TraceRecorder* recorder = nullptr;  ///< the lane's; flushed when a wait gets long; null with it
    TraceEvent event;  ///< what all events of this call share: rank, channel, sequence, ...
  };

  explicit HostPrimitives(const Setup& setup);

  /// The same task once more, on other data.
  void restart(const void* input, void* output, std::uint32_t sequence);

  void begin_loop(std::int64_t loop) { loop_ = loop; }

  template <Primitive kPrimitive>
  void step(int chunk, Ports from, Ports to) {
    run(kPrimitive, chunk, from, to);
  }

  /// A task of sends and receives: each goes on whenever its connection lets it. One thread in run_channel()'s order would
  /// be held up by whichever waits, and what that one's peer waits for may be behind it.
  /// shape  of a point-to-point collective; always the same one
  void exchange(const ChannelTask& task);

  /// Waits until everything sent has left this process.
  void drain();

 private:
  /// One message's worth of a step: bytes of the slice at the same place of input and output.
  struct Slice {
    const std::byte* input;
    std::byte* output;
    std::size_t bytes;
  };

  void run(Primitive primitive, int chunk, Ports from, Ports to);
  void move(PrimitiveParts parts, const ChunkSpan& span, Ports from, Ports to);
  void move_slice(PrimitiveParts parts, const Slice& slice, Ports from, Ports to);
  bool receive(std::size_t bytes, Ports from);
  void release(Ports from);
  bool pass_on(PrimitiveParts parts, const Slice& slice, Ports to);
  bool reduce(PrimitiveParts parts, const Slice& slice, Ports to);
  void reduce_into(std::byte* output, std::byte* room, const Slice& slice, FirstInput first);
  void write_output(std::byte* output, const std::byte* from, std::size_t bytes);
  void write_result(std::byte* to, const std::byte* from, std::size_t bytes, bool is_streaming);
  bool send_to(std::uint32_t index, std::span<const std::byte> from);
  bool send_input(std::uint32_t index, const Slice& slice);
  Result<bool> offer(std::uint32_t index, const Slice& slice);
  void find_memory();
  bool announce(std::uint32_t index, std::size_t bytes);
  bool acquire(std::uint32_t index, std::span<std::byte>& room);
  [[nodiscard]] bool has_landing(Rank peer) const;
  bool take(const Slice& slice, std::uint32_t index);
  [[nodiscard]] bool prepares(PrimitiveParts parts) const;
  template <typename End, typename Ready>
  bool wait_for(const HostPorts::Side<End>& side, std::uint32_t index, const char* what,
                Ready ready);
  bool wait_on(Waiter& waiter, TransportEnd& end, ConnectionCount& count, Rank peer,
               const char* what);
  bool move_on();
  void give_up(Rank peer, const char* what);
  bool look_after(TransportEnd& end, ConnectionCount& count, Rank peer);
  bool check_receivers();
  void fail(const Error& error, Rank peer);
  void record(Primitive primitive, const ChunkSpan& span, Ports from, Ports to,
              std::int64_t begin_ns);

  /// One step of an exchange's loops: how far it has come.
  struct Course {
    Primitive primitive;
    int chunk;
    Ports from, to;  ///< one of one side; none: within the rank
    std::int64_t loop = 0;
    std::size_t done = 0;       ///< bytes of its chunk
    std::int64_t begin_ns = 0;  ///< of the chunk, where it is traced and has been begun

    [[nodiscard]] bool sends() const { return !to.is_empty(); }
    [[nodiscard]] bool travels() const { return sends() || !from.is_empty(); }
  };
  void begin_courses(const ChannelTask& task);
  bool advance(Course& course, std::uint32_t number);
  Result<bool> move_course(const Course& course, const Slice& slice);
  Result<bool> accept(std::uint32_t index, const Slice& slice);
  [[nodiscard]] std::uint32_t end_of(const Course& course) const;
  [[nodiscard]] const std::vector<ConnectionCount*>& counts_of(const Course& course) const;
  [[nodiscard]] Rank peer_of(const Course& course) const;
  bool look_for_missing();
  [[nodiscard]] bool is_there(const Course& course) const;
  [[nodiscard]] const WaitPolicy& policy() const;
  void give_up(const Course& course);
  bool wait_for_any(Waiter& waiter, std::int64_t loops);

  Setup setup_;
  std::int64_t loop_ = 0;
  std::uint32_t step_ = 0;
  /// Of the slice in hand: this rank's input and what each end of `from` has brought, as far as there is.
  std::vector<const std::byte*> inputs_;
  std::size_t arrived_ = 0;  ///< how many of those are there, own input among them

  /// Where a peer wants the sum of what it has brought.
  struct Landing {
    Rank peer;
    std::byte* place;
    bool is_input;  ///< it is where the peer's share lies
  };
  std::vector<Landing> landings_;    ///< of the slice in hand
  std::vector<std::byte*> outputs_;  ///< of a reduction: kept for its memory

  /// What the call's buffers lie in; null: in private memory, or not to be read in place.
  std::shared_ptr<const SharedRegion> input_memory_, output_memory_;
  bool has_looked_for_memory_ = false;  ///< in this call, for the two above
  bool has_referred_ = false;           ///< in this call
  std::vector<Course> courses_;         ///< of an exchange, in the order of one loop
};

}  // namespace ringside
