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

/// What simulate() and its worker process say to each other, as FlatBuffers over a socket:
///
///              <-  hello      once, as soon as it runs
///     job      ->          the simulation to run
///              <-  question   once it is planned: which routes it needs
///     routes   ->
///              <-  progress, trace    any number of them
///              <-  result, failure, or death of the process that simulated
namespace ringside {

/// The caller, and what it wants besides the result.
struct WireCaller {
  int nranks = 0;
  std::string version = {};  ///< of ringside
  bool reports_progress = false;
  bool is_traced = false;
  std::string command_line = {};  ///< with the pid: the writer that the trace names
  std::uint32_t pid = 0;
};

struct WireJob {
  WireCaller caller;
  SimRequest request;  ///< without what only a process itself can have: network, trace, progress
};

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

/// In the order of the question.
struct WireRoutes {
  std::vector<SimRoute> pairs;
  std::vector<std::vector<int>> groups;               ///< links
  std::vector<std::pair<int, BytesPerSecond>> rates;  ///< of every link there
  int first_fabric_link = std::numeric_limits<int>::max();
};

struct WireProgress {
  std::int64_t done = 0;
  std::int64_t all = 0;
};

/// One block of an .rtrace file.
struct WireTrace {
  std::vector<std::byte> block;
};

struct WireFailure {
  Error error;
};

/// Of the process that simulated.
struct WireDeath {
  int signal = 0;
};

/// The greeting of a program that simulates.
struct WireHello {
  std::string version = {};  ///< of its ringside
};

using WireMessage = std::variant<WireJob, WireQuestion, WireRoutes, WireProgress, WireTrace,
                                 SimResult, WireFailure, WireDeath, WireHello>;

/// The message in its encoding: its length comes first.
std::vector<std::byte> encode(const WireMessage& message);
std::vector<std::byte> encode_job(const WireCaller& caller, const SimRequest& request);
std::vector<std::byte> encode_trace(std::span<const std::byte> block);

/// errors  Corrupt: not such a message, unknown words, lists that do not fit together. (Ranks may
///         still be out of range.)
Result<WireMessage> decode(std::span<const std::byte> bytes);

/// errors  PeerGone: the other side does not read any more; System
Status send_wire(int socket, std::span<const std::byte> encoded);

/// More than the routes of any job need; a length beyond it is no length.
constexpr std::uint32_t kMostWireBytes = 1U << 30;

/// What is waited for, at most.
struct WirePatience {
  Deadline until = Deadline::never(real_clock());
  std::uint32_t bytes = kMostWireBytes;
};

/// Waits for the next message.
/// errors  PeerGone: the other end is closed; Timeout; Corrupt; System
Result<WireMessage> receive_wire(int socket, const WirePatience& patience = {});

}  // namespace ringside
