#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/units.h>
#include <ringside/words.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>

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

  /// errors  System: this host has no address that others can reach
  static Result<CommunicatorId> make();
};

/// The same on every rank.
struct CommunicatorConfig {
  Seconds connect_timeout{8};  ///< that a rank may take to join
  Seconds op_timeout{60};      ///< a call in which nothing moves for this long fails
  std::string name = {};       ///< name in dumps; empty: derived from how the communicator was made
};

/// Arguments of Communicator::run() that only some collectives have.
struct CallOptions {
  RedOp op = RedOp::Sum;  ///< for all_reduce, reduce, reduce_scatter
  int root = 0;           ///< for broadcast, reduce, gather, scatter; for send and recv: the peer
};

/// Ranks that call collectives together: <ringside/ringside.h> for C++, where each call returns when it is done.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one at a time
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
