#pragma once

#include <ringside/call_site.h>
#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/units.h>
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

/// The information by which the ranks of a communicator find each other. One rank makes it and sends it to the others
/// by any means. It contains the job's secret: a process that has it can join.
struct CommunicatorId {
  std::array<std::byte, 128> bytes{};

  /// join_timeout  that the next rank may take to join after one has
  /// errors  System: this host has no address that others can reach
  static Result<CommunicatorId> make(Seconds join_timeout = Seconds{8});
};

/// The same on every rank.
struct CommunicatorConfig {
  Seconds connect_timeout{8};  ///< that a rank may take to join
  Seconds op_timeout{60};      ///< a call in which nothing moves for this long fails
  std::string name = {};       ///< in dumps; empty: made from where the communicator comes from
  std::string description = "default_pg";  ///< in dumps
  std::string fault_name = {};  ///< by which planned faults select the communicator; empty: name
  bool is_recorded = true;      ///< false: dumps do not know the communicator
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

/// A send or recv in a communicator's flight record that another communicator carries out.
/// Threads  any
class MessageRecord {
 public:
  MessageRecord(MessageRecord&&) noexcept;
  MessageRecord& operator=(MessageRecord&&) noexcept;
  ~MessageRecord();
  void end(bool is_done);  ///< once; false: it has failed

 private:
  friend class Communicator;
  struct Impl;
  explicit MessageRecord(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Ranks that call collectives together: <ringside/ringside.h> for C++. run() returns when the call is done, start() at once.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one at a time; any for wait(), record_message() and abort()
/// Ownership  buffers stay the caller's; they are in memory of the host (in memory of a GPU: the C API)
class Communicator {
 public:
  /// errors  PeerGone: another rank did not join, or failed.  InvalidArgument: no such rank
  static Result<Communicator> join(const CommunicatorId& id, int nranks, int rank,
                                   const CommunicatorConfig& config = {});
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  [[nodiscard]] int rank() const;
  [[nodiscard]] int nranks() const;

  /// Runs any collective except send_recv and all_gather_v.
  ///
  /// count   elements: each rank's buffer; all_gather, reduce_scatter: each rank's block; all_to_all, gather, scatter:
  ///         the block of each pair of ranks
  /// errors  InvalidArgument, Unsupported: before any data moved.  PeerGone: another rank failed or died, or no data
  ///         moved for op_timeout; after that the communicator is unusable on every rank
  Status run(Collective collective, const void* input, void* output, std::size_t count,
             DataType type, CallOptions options = {});

  /// Reports how calls ended: on the communicator's thread, or on the one that waits.
  using WhenDone = std::function<void(const Status& done)>;
  /// Starts calls that belong together: the sends and receives among them do not block each other; collectives follow,
  /// one after the other. All of them run on a thread of this communicator, after those that were started before.
  /// when_done  called once, with an error also where the calls do not begin
  /// returns    the number for wait(); 0: they did not begin
  std::uint64_t start(const std::vector<Call>& calls, WhenDone when_done);
  /// Returns once the calls with that number are done. What has not begun by then runs on the caller's thread.
  void wait(std::uint64_t number);

  /// Records a send or recv of this communicator's ranks that the program makes over another one.
  MessageRecord record_message(const Call& message);

  /// Breaks the communicator on every rank: calls under way fail with `why`. Unless its code is Aborted, the ranks write
  /// dumps, where these are enabled.
  void abort(const Error& why);

  /// The sum (or `op`) of all ranks' data, in place.
  /// errors  as run(); this also holds for the next three functions
  template <Elements R>
  Status all_reduce(R&& data, RedOp op = RedOp::Sum) {
    return run(Collective::AllReduce, std::ranges::data(data), std::ranges::data(data),
               std::ranges::size(data), type_of<R>(), {.op = op});
  }
  /// The root's data, to all ranks, in place.
  template <Elements R>
  Status broadcast(R&& data, int root = 0) {
    return run(Collective::Broadcast, std::ranges::data(data), std::ranges::data(data),
               std::ranges::size(data), type_of<R>(), {.root = root});
  }
  /// Gathers the blocks of all ranks, one after the other.
  /// shape   output holds nranks() blocks of the size of input
  template <Elements In, Elements Out>
  Status all_gather(const In& input, Out&& output) {
    return run(Collective::AllGather, std::ranges::data(input), std::ranges::data(output),
               std::ranges::size(input), type_of<In>());
  }
  /// Computes this rank's block of the sum (or `op`) of all ranks' inputs.
  /// shape   input holds nranks() blocks of the size of output
  template <Elements In, Elements Out>
  Status reduce_scatter(const In& input, Out&& output, RedOp op = RedOp::Sum) {
    return run(Collective::ReduceScatter, std::ranges::data(input), std::ranges::data(output),
               std::ranges::size(output), type_of<In>(), {.op = op});
  }

  /// Waits for all calls and all ranks, then leaves: the other ranks do not take it for a death.
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
