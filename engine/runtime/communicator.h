#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "base/vocabulary.h"
#include "engine/reduce/element.h"
#include "engine/runtime/connect.h"

namespace ringside {

class Bootstrap;
class TraceRecorder;

/// What a communicator is made with. Every rank gives the same, but for `trace`.
struct CommunicatorOptions {
  std::optional<TransportKind>
      transport;      ///< none: shm between ranks of one host, tcp between hosts
  int nchannels = 0;  ///< most to use; 0: what tuning chooses
  Bytes slot;         ///< slot size; 0: what tuning chooses
  Seconds connect_timeout{8};
  Seconds op_timeout{60};          ///< a collective in which nothing moves for so long fails
  TraceRecorder* trace = nullptr;  ///< null: nothing is recorded
};

/// One collective call on one rank.
///
/// count   all_reduce, broadcast: elements of the buffer; all_gather, reduce_scatter: elements of one
///         rank's block (the other buffer holds n of them)
struct CollectiveCall {
  Collective collective = Collective::AllReduce;
  const void* input = nullptr;
  void* output =
      nullptr;  ///< in place: NCCL's rules (all_gather: input lies at block `rank` of it)
  std::int64_t count = 0;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  std::optional<ElementBits> scalar = {};  ///< of RedOp::PreMulSum: this rank's factor
  Rank root{0};
};

/// Ranks that call collectives together, on real memory of real processes.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one at a time calls run(); abort() is for any thread
/// Ownership  takes the Bootstrap; buffers are the caller's, and in use until run() returns
class Communicator {
 public:
  /// Connects each channel's ring.
  /// errors  Timeout: who did not come.  PeerGone.  Unsupported: shm asked for between two hosts.
  static Result<std::unique_ptr<Communicator>> make(std::unique_ptr<Bootstrap> bootstrap,
                                                    const CommunicatorOptions& options);
  ~Communicator();

  /// errors  InvalidArgument, Unsupported: before anything moved.  PeerGone, Timeout, Aborted: the
  ///         communicator is broken from then on, on every rank, for the same first reason.
  Status run(const CollectiveCall& call);

  /// Breaks the communicator on every rank: their run() returns `why` soon.
  void abort(const Error& why);

  /// Everybody's bytes, by rank: for what has to be told beside the data (times, counts). Slow: TCP.
  /// shape   every rank gives equally many
  /// errors  as run()
  Result<std::vector<std::byte>> all_gather_bytes(std::span<const std::byte> mine);

  /// Returns when every rank has called it.
  /// errors  as run()
  Status barrier();

  /// The orderly end: waits for all ranks, then leaves, so that nobody takes it for a death.
  /// errors  as run()
  Status finish();

  [[nodiscard]] Rank rank() const;
  [[nodiscard]] int nranks() const;
  /// What joins the ranks: see ConnectedRings.
  [[nodiscard]] const std::string& transport() const;

 private:
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
