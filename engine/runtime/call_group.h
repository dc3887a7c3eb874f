#pragma once

#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

namespace runtime {
class Communicator;
}  // namespace runtime
class HostStream;

/// The stream on which a call runs: a host stream or a device stream.
using CallStream = std::variant<HostStream*, DeviceStream>;

/// The calls of one group, as between ncclGroupStart() and ncclGroupEnd(). The sends and receives of one communicator
/// become one call, in which they do not block each other, whatever their order in the group. Its collectives follow,
/// in the order in which they were added. On a stream, communicators follow each other in the order of their first
/// call.
///
/// Threads    one
class CallGroup {
 public:
  /// call  a send or receive has one transfer listed, or a collective; its buffers are in use until the stream has
  ///       done it
  void add(runtime::Communicator& communicator, const CallStream& stream, CollectiveCall call);

  /// Discards the communicator's calls.
  void drop(const runtime::Communicator& communicator);

  /// Enqueues all calls and empties the group. Device communicators that still have to connect do so concurrently,
  /// since they may be ranks that wait for each other.
  /// errors  as Communicator::enqueue(), from the first call that was rejected; the calls before it are enqueued
  Status launch();

  [[nodiscard]] bool is_empty() const { return parts_.empty(); }

 private:
  struct Part {
    runtime::Communicator* communicator;
    CallStream stream;
    std::vector<CollectiveCall> messages;
    std::vector<CollectiveCall> collectives;

    /// Returns the calls to enqueue: the fused messages, then the collectives.
    [[nodiscard]] std::vector<CollectiveCall> calls() const;
  };
  /// Makes the connections of device communicators, all at once. Returns the first error.
  static Status prepare(const std::vector<Part>& parts);
  std::vector<Part> parts_;
};

/// Merges sends and receives into as few calls as possible: the k-th call holds the k-th message of each peer and
/// direction.
/// messages  sends and receives with one transfer each
std::vector<CollectiveCall> fuse_messages(const std::vector<CollectiveCall>& messages);

}  // namespace ringside
