#pragma once

#include <ringside/call_site.h>
#include <ringside/export.h>
#include <ringside/message_record.h>
#include <ringside/result.h>
#include <ringside/units.h>
#include <ringside/unreceived_messages.h>
#include <ringside/words.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

namespace RINGSIDE_API ringside {

/// The type of a buffer's elements. For types that C++ lacks, use Communicator::run().
template <typename T>
concept Element = std::same_as<T, std::int8_t> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float> ||
    std::same_as<T, double>;

template <Element T>
constexpr DataType data_type_of() {
  if constexpr (std::same_as<T, float>) return DataType::Float32;
  if constexpr (std::same_as<T, double>) return DataType::Float64;
  if constexpr (std::same_as<T, std::int8_t>) return DataType::Int8;
  if constexpr (std::same_as<T, std::uint8_t>) return DataType::Uint8;
  if constexpr (std::same_as<T, std::int32_t>) return DataType::Int32;
  if constexpr (std::same_as<T, std::uint32_t>) return DataType::Uint32;
  if constexpr (std::same_as<T, std::int64_t>) return DataType::Int64;
  return DataType::Uint64;
}

/// Contiguous elements: a vector, an array, a span.
template <typename R>
concept Elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Element<std::ranges::range_value_t<R>>;

/// The address and secret by which the ranks of a communicator find each other. One rank makes the id and sends it to
/// the others by any means. A process that has the id can join.
struct CommunicatorId {
  std::array<std::byte, 128> bytes{};

  /// Makes the id of a new communicator.
  /// join_timeout  after a rank has joined, every waiting rank gets an error if no further rank joins for this long
  /// errors  System: this host has no address that others can reach
  static Result<CommunicatorId> make(Seconds join_timeout = Seconds{8});
};

/// Settings of a communicator. Every rank must pass the same.
struct CommunicatorConfig {
  /// Limit for connecting to the id's host and to other ranks in join(); also for a call that connects, if it is longer
  /// than op_timeout. CommunicatorId::make() sets the limit between two joins.
  Seconds connect_timeout{8};
  Seconds op_timeout{60};  ///< a call fails if it moves no data for this long
  std::string name = {};   ///< name in dumps; empty: derived from the communicator's origin
  std::string description = "default_pg";  ///< description in dumps
  /// Name by which fault plans select the communicator; empty: `name`
  std::string fault_name = {};
  bool is_recorded = true;  ///< false: the communicator does not appear in dumps
  /// Called on a thread of the library when all ranks have left a communicator that was destroyed without finish() and
  /// without an error
  std::function<void(const UnreceivedMessages&)> when_left = {};
};

/// Arguments of Communicator::run() that only some calls have.
struct CallOptions {
  RedOp op = RedOp::Sum;  ///< of all_reduce, reduce, reduce_scatter
  int root = 0;           ///< of broadcast, reduce, gather, scatter; the peer of send and recv
  /// of RedOp::PreMulSum: this rank's factor, one element of the call's type
  const void* scalar = nullptr;
  std::vector<std::int64_t> counts = {};  ///< of all_gather_v: elements of each rank's block
  /// Where the program makes the call, for dumps. It stays until the process ends; null: unknown
  const CallSite* site = nullptr;
};

/// A call for Communicator::start(): the arguments of run().
struct Call {
  Collective collective = Collective::AllReduce;
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;
  DataType type = DataType::Float32;
  CallOptions options = {};
};

/// A group of ranks that call collectives together: <ringside/ringside.h> for C++. run() returns when the call is done,
/// start() at once.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one at a time; any for wait(), record_message(), abort() and status()
/// Ownership  the caller owns the buffers, in host memory; for GPU memory use the C API
class Communicator {
 public:
  /// errors  Timeout: another rank did not join in time.  PeerGone: another rank failed.  InvalidArgument: no such rank
  static Result<Communicator> join(const CommunicatorId& id, int nranks, int rank,
                                   const CommunicatorConfig& config = {});
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  [[nodiscard]] int rank() const;
  [[nodiscard]] int nranks() const;

  /// Runs a call and returns when this rank's part is done. SendRecv is Unsupported: start() a Send and a Recv together
  /// instead. AllGatherV needs CallOptions::counts.
  ///
  /// count   elements: each rank's buffer; all_gather, reduce_scatter: each rank's block; all_gather_v: this rank's
  ///         block, counts[rank()]; all_to_all, gather, scatter: the block of each pair of ranks; send, recv: the
  ///         message
  /// errors  InvalidArgument, Unsupported: before any data moved.  PeerGone: another rank failed or died.  Timeout: no
  ///         data moved for op_timeout.  After the last two the communicator is unusable on every rank
  Status run(Collective collective, const void* input, void* output, std::size_t count,
             DataType type, CallOptions options = {});

  /// Gets the result of calls. It runs on the communicator's thread, in wait(), or in start() if the calls cannot be
  /// started.
  using WhenDone = std::function<void(const Status& done)>;
  /// Enqueues calls that belong together, and returns at once. Sends and receives among them do not block each other,
  /// whatever their order; collectives run after them, one after the other. The calls run after those of earlier
  /// start() calls, on the communicator's thread or in wait().
  /// when_done  called once with the result, also if the calls cannot be started
  /// returns    the number for wait(); 0: the calls were not started
  std::uint64_t start(const std::vector<Call>& calls, WhenDone when_done);
  /// Returns when the calls of start() number `number` are done. Calls that have not begun run on the calling thread.
  void wait(std::uint64_t number);

  /// Adds to this communicator's flight record a send or recv that the program makes over another communicator. Call
  /// MessageRecord::end() when it is done.
  MessageRecord record_message(const Call& message);

  /// Breaks the communicator on every rank: calls under way fail with `why`. Unless its code is Aborted, the ranks write
  /// dumps, where these are enabled.
  void abort(const Error& why);

  /// Returns the first error so far, of this rank or another: what broke the communicator, or a call that was refused.
  [[nodiscard]] Status status() const;

  /// Replaces the data on each rank by the sum (or `op`) of all ranks' data.
  /// errors  as run(); this also holds for the next three functions
  template <Elements R>
  Status all_reduce(R&& data, RedOp op = RedOp::Sum) {
    return run(Collective::AllReduce, std::ranges::data(data), std::ranges::data(data),
               std::ranges::size(data), type_of<R>(), {.op = op});
  }
  /// Replaces the data on each rank by the root's data.
  template <Elements R>
  Status broadcast(R&& data, int root = 0) {
    return run(Collective::Broadcast, std::ranges::data(data), std::ranges::data(data),
               std::ranges::size(data), type_of<R>(), {.root = root});
  }
  /// Gathers the blocks of all ranks, one after the other.
  /// shape   output holds nranks() blocks of the size and type of input, which is not checked
  template <Elements In, Elements Out>
  Status all_gather(const In& input, Out&& output) {
    return run(Collective::AllGather, std::ranges::data(input), std::ranges::data(output),
               std::ranges::size(input), type_of<In>());
  }
  /// Computes this rank's block of the sum (or `op`) of all ranks' inputs.
  /// shape   input holds nranks() blocks of the size and type of output, which is not checked
  template <Elements In, Elements Out>
  Status reduce_scatter(const In& input, Out&& output, RedOp op = RedOp::Sum) {
    return run(Collective::ReduceScatter, std::ranges::data(input), std::ranges::data(output),
               std::ranges::size(output), type_of<In>(), {.op = op});
  }

  /// Waits until all calls are done on all ranks, then leaves the communicator without an error on the other ranks.
  /// errors  as run()
  Status finish();

 private:
  struct Impl;
  template <typename R>
  static constexpr DataType type_of() {
    return data_type_of<std::ranges::range_value_t<R>>();
  }
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
