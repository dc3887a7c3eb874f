#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "base/vocabulary.h"
#include "engine/runtime/call_check.h"
#include "engine/runtime/connect.h"
#include "engine/runtime/host_choice.h"
#include "engine/runtime/host_plan.h"

namespace ringside {

class Bootstrap;
class TraceRecorder;

/// What a communicator is made with. Every rank gives the same, but for `trace`.
struct CommunicatorOptions {
  std::optional<TransportKind>
      transport;      ///< none: shm between ranks of one host, tcp between hosts
  HostWishes wishes;  ///< beside them, the table chooses
  std::string table_path = host_table_path();  ///< of this rank; where ranks' differ, the usual one
  int ranks_per_node =
      0;  ///< nodes to play on one host; 0: hosts are nodes, and where an algorithm needs
          ///< several, one host plays them
  Seconds connect_timeout{8};
  Seconds op_timeout{60};  ///< a collective in which nothing moves for so long fails
  bool check_calls =
      is_call_check_wanted();      ///< whether ranks that call differently are found; of all ranks
  TraceRecorder* trace = nullptr;  ///< null: nothing is recorded
};

/// Ranks that call collectives together, on real memory of real processes.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one at a time calls run(); abort() is for any thread
/// Ownership  takes the Bootstrap; buffers are the caller's, and in use until run() returns
class Communicator {
 public:
  /// Finds out how to reach the others; connections are made by the first run() that needs them.
  /// errors  Timeout: who did not come.  PeerGone.  Unsupported: shm asked for between two hosts.
  static Result<std::unique_ptr<Communicator>> make(std::unique_ptr<Bootstrap> bootstrap,
                                                    const CommunicatorOptions& options);
  ~Communicator();

  /// A call like one of the last is planned already, and costs no allocation.
  /// errors  InvalidArgument, Unsupported: before anything moved.  PeerGone, Timeout, Aborted: the
  ///         communicator is broken from then on, on every rank, for the same first reason.
  ///         InvalidArgument, too: the ranks do not make the same call (CallCheck); broken likewise
  Status run(const CollectiveCall& call);

  /// How a call runs.
  /// errors  as run(), before anything moved
  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const;

  /// Wishes for the calls to come, on every rank the same.
  void set_wishes(const HostWishes& wishes);

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
  /// What joins the ranks: see HostLayout.
  [[nodiscard]] const std::string& transport() const;
  [[nodiscard]] const HostLayout& layout() const;

 private:
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
