#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/result.h"
#include "sim/simulate.h"

/// The messages between simulate() and its worker process, as FlatBuffers over a socket:
///
///              <-  hello      once, as soon as it runs
///     job      ->          the simulation to run
///              <-  question   once it is planned: which routes it needs
///     routes   ->
///              <-  progress, trace    any number of them
///             <-  result, failure, or death of the simulating process
namespace ringside {

/// Properties of the calling process.
struct WireCaller {
  int nranks = 0;
  std::string version = {};  ///< ringside version
  bool reports_progress = false;
  bool is_traced = false;
  std::string command_line = {};  ///< with `pid`: the writer named in the trace
  std::uint32_t pid = 0;
};

/// Caller -> worker: the call to simulate.
struct WireJob {
  WireCaller caller;
  /// Without network, trace and progress, which only the caller's process can hold.
  SimRequest request;
};

/// Worker -> caller: the routes that the worker needs.
struct WireQuestion {
  struct Pair {
    Rank from{0};
    Rank to{0};
    int channel = 0;
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };
  struct Group {
    SwitchGroup members;
    int channel = 0;
  };
  std::vector<Pair> pairs;
  std::vector<Group> groups;
};

/// The answer, in the order of the question.
struct WireRoutes {
  std::vector<SimRoute> pairs;
  std::vector<std::vector<int>> groups;               ///< links
  std::vector<std::pair<int, BytesPerSecond>> rates;  ///< rate of each link in these routes
  int first_fabric_link = std::numeric_limits<int>::max();
};

/// Worker -> caller: steps done so far, and in all.
struct WireProgress {
  std::int64_t done = 0;
  std::int64_t all = 0;
};

/// One block of an .rtrace file.
struct WireTrace {
  std::vector<std::byte> block;
};

/// Worker -> caller: the simulation failed.
struct WireFailure {
  Error error;
};

/// The signal that killed the simulating process.
struct WireDeath {
  int signal = 0;
};

/// The greeting of a worker process.
struct WireHello {
  std::string version = {};  ///< ringside version of the worker
};

using WireMessage = std::variant<WireJob, WireQuestion, WireRoutes, WireProgress, WireTrace,
                                 SimResult, WireFailure, WireDeath, WireHello>;

/// Encodes a message, preceded by its length.
std::vector<std::byte> encode(const WireMessage& message);
std::vector<std::byte> encode_job(const WireCaller& caller, const SimRequest& request);
std::vector<std::byte> encode_trace(std::span<const std::byte> block);

/// Decodes a message. Ranks are not checked against the job.
/// errors  Corrupt: not a message, unknown words, lists of inconsistent lengths
Result<WireMessage> decode(std::span<const std::byte> bytes);

/// Sends an encoded message.
/// errors  PeerGone: the other side no longer reads; System
Status send_wire(int socket, std::span<const std::byte> encoded);

/// Maximum length of a message. It exceeds the routes of any job, so a larger length is an error.
constexpr std::uint32_t kMostWireBytes = 1U << 30;

/// Limits for receive_wire().
struct WirePatience {
  Deadline until = Deadline::never(real_clock());
  std::uint32_t bytes = kMostWireBytes;
};

/// Waits for the next message.
/// errors  PeerGone: the other side closed the socket; Timeout; Corrupt; System
Result<WireMessage> receive_wire(int socket, const WirePatience& patience = {});

}  // namespace ringside
