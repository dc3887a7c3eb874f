#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "engine/channels/channels.h"
#include "engine/debuglog/channel_text.h"
#include "engine/debuglog/communicator_text.h"
#include "engine/debuglog/line.h"
#include "engine/runtime/calls/call.h"
#include "engine/runtime/calls/executor.h"
#include "engine/runtime/host/connect.h"
#include "engine/tuning/choice.h"
#include "ringside/error.h"
#include "ringside/units.h"

namespace ringside {

class DebugOutput;
struct Whereabouts;

/// Writes one communicator's lines to the debug log of its process, in NCCL's wording. If a line of NCCL names a thing
/// that does not exist here (a GPU, a plugin), that line or part is omitted. docs/reference/debug-log.md lists the
/// differences.
///
/// Ordering   started(), hosts_known(), channels_made(), completed(); then connected() and called() for each call
/// Threads    one at a time
class CommunicatorLog {
 public:
  /// communicator  the address that log lines print to identify it
  /// returns       null: the settings hide all its lines
  static std::unique_ptr<CommunicatorLog> make(const void* communicator, Rank rank, int nranks);

  /// id  the communicator's id, equal on all ranks
  void started(std::uint64_t id);
  /// Logs an NCCL variable that is set and applied.
  void variable_applied(const std::string& variable, std::int64_t value);
  /// Logs the ranks' hosts, and the network on which other ranks reach this one.
  void hosts_known(const Connections& connections);
  void completed();

  /// Logs the rings and trees of the channels.
  void channels_made(const Channels& channels);
  /// Logs the connections `ids` that a call has made, and "Connected all rings" or trees once the algorithm has all of
  /// them.
  void connected(std::span<const ConnectionId> ids, const Connections& connections,
                 const Choice& choice);

  /// Logs a call that is about to begin, with its algorithm and protocol.
  void called(const CollectiveCall& call, std::uint64_t op_count, const CallPlan& plan);

  /// Logs the first error of the communicator as a warning.
  void failed(const Error& why, const WarnPlace& place);
  void destroyed();

 private:
  CommunicatorLog(DebugOutput& output, CommFacts facts);
  void log_network(const Whereabouts& here);
  void log_rings(const Channels& channels);
  void log_trees(const Channels& channels);
  void log_call(const CollectiveCall& call, std::uint64_t op_count);
  [[nodiscard]] ConnectionEnd end_of(std::uint32_t rank) const;
  [[nodiscard]] int place_of(int rank) const;

  DebugOutput& output_;
  CommFacts facts_;
  bool shows_calls_ = false;    ///< COLL
  bool shows_choices_ = false;  ///< TUNING
  bool has_failed_ = false;
  std::vector<int> places_ = {};  ///< [rank] = place among the ranks of its host
  std::set<std::tuple<int, int, std::uint32_t, std::uint32_t>> connected_ = {};
  bool has_rings_ = false, has_trees_ = false;
};

}  // namespace ringside
