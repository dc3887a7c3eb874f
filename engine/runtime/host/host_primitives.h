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

/// The Primitives implementation that moves real bytes on hosts. A chunk goes through the connections' slots in slices
/// of one slot, so that the next rank starts on the first slice while this rank still works on the second.
///
/// In place   if a connection reaches memory and both buffers lie in SharedMemory, a send passes the address and the
///            receiver reads the bytes there; with returns_results, sums are written straight into the waiting ranks'
///            buffers
/// Reduction  own input first, then the received data, end after end. Sums are sent undivided; the division of an
///            average happens where an output is written.
/// Threads    one thread per channel
/// Ordering   slices of a chunk in order; both sides cut a chunk equally, because they share the map. In an exchange,
///            only each transfer's slices are ordered, and transfers do not block each other
/// Ownership  all objects in Setup outlive this object
class HostPrimitives : public NamedPrimitives<HostPrimitives> {
 public:
  struct Setup {
    const ChunkMap* map = nullptr;
    HostPorts* ports = nullptr;
    Connections* connections = nullptr;  ///< makes the missing ends; null: no port misses an end
    Bytes slot;                          ///< slot size of all the ports' connections
    const std::byte* input = nullptr;
    std::byte* output = nullptr;       ///< may equal `input`: in place
    Bytes element;                     ///< size of one element
    const ReduceOp* reduce = nullptr;  ///< null: the collective reduces nothing
    /// Whether outputs bypass the caches, because they are larger than the caches and are not read soon.
    bool is_streaming = false;
    /// Whether the algorithm returns results (its facts): a reference then also passes the address for the result.
    bool returns_results = false;
    /// Whether an in-place input stays unchanged until all peers have read it.
    bool keeps_input = false;
    const WaitPolicy* wait = nullptr;
    const WaitPolicy* wait_for_missing = nullptr;  ///< the policy while ends are missing
    Failure* failure = nullptr;  ///< stores the first Error; once it holds one, steps do nothing
    TraceLane* lane = nullptr;   ///< null: not traced
    /// The lane's recorder, flushed during long waits; null if `lane` is null
    TraceRecorder* recorder = nullptr;
    /// The fields that all events of this call share: rank, channel, sequence, ...
    TraceEvent event;
  };

  explicit HostPrimitives(const Setup& setup);

  /// Prepares the same task for another run on other data.
  void restart(const void* input, void* output, std::uint32_t sequence);

  void begin_loop(std::int64_t loop) { loop_ = loop; }

  template <Primitive kPrimitive>
  void step(int chunk, Ports from, Ports to) {
    run(kPrimitive, chunk, from, to);
  }

  /// Runs a task of sends and receives. Each transfer proceeds whenever its connection is ready. In the fixed order of
  /// run_channel(), one waiting transfer would block the next, for which the peer may be waiting.
  /// shape  a task of a point-to-point collective; the same task in every call
  void exchange(const ChannelTask& task);

  /// Waits until all sent data has left this process.
  void drain();

 private:
  /// The bytes of one message of a step, at the same offset in input and output.
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

  /// One transfer of an exchange, and its progress.
  struct Course {
    Primitive primitive;
    int chunk;
    Ports from, to;  ///< one port on one side; none: a copy within the rank
    std::int64_t loop = 0;
    std::size_t done = 0;       ///< bytes of its chunk that have moved
    std::int64_t begin_ns = 0;  ///< start of the chunk, if it is traced and has begun

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
  /// The data of the current slice: this rank's input, then what each end of `from` has received so far.
  std::vector<const std::byte*> inputs_;
  std::size_t arrived_ = 0;  ///< how many of `inputs_` are available, own input included

  /// The address where a peer wants the result of the data that it sent.
  struct Landing {
    Rank peer;
    std::byte* place;
    bool is_input;  ///< whether `place` is also the address of the peer's data
  };
  std::vector<Landing> landings_;    ///< for the current slice
  std::vector<std::byte*> outputs_;  ///< destinations of a reduction; a member to avoid allocations

  /// The shared memory that contains the call's buffers; null: private memory, or not usable in place.
  std::shared_ptr<const SharedRegion> input_memory_, output_memory_;
  bool has_looked_for_memory_ = false;  ///< whether this call has set the two members above
  bool has_referred_ = false;           ///< in this call
  std::vector<Course> courses_;         ///< the transfers of an exchange, in the order of one loop
};

}  // namespace ringside
