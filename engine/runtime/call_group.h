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

/// Where a call is to take its turn.
using CallStream = std::variant<HostStream*, DeviceStream>;

/// Calls that begin together: ncclGroupStart() .. ncclGroupEnd(). The sends and receives of one communicator
/// become one call, in which none waits for another, whatever their order here; collectives stay as they are, behind
/// them, in their order. Communicators follow each other on a stream in the order in which they first came.
///
/// Threads    one
class CallGroup {
 public:
  /// call  a send or receive has one transfer listed, or a collective; its buffers are in use until the stream has
  ///       done it
  void add(runtime::Communicator& communicator, const CallStream& stream, CollectiveCall call);

  /// Takes out what the communicator has in it.
  void drop(const runtime::Communicator& communicator);

  /// Enqueues everything. The group is empty afterwards. Communicators on devices that have to connect first connect
  /// concurrently, since they may be ranks that wait for each other.
  /// errors  as Communicator::enqueue(): of the first call that was refused; those before it are under way
  Status launch();

  [[nodiscard]] bool is_empty() const { return parts_.empty(); }

 private:
  struct Part {
    runtime::Communicator* communicator;
    CallStream stream;
    std::vector<CollectiveCall> messages;
    std::vector<CollectiveCall> collectives;

    /// What is enqueued.
    [[nodiscard]] std::vector<CollectiveCall> calls() const;
  };
  static Status prepare(const std::vector<Part>& parts);
  std::vector<Part> parts_;
};

/// The sends and receives as few calls: the k-th of each peer and direction go into the k-th.
/// messages  of one transfer each
std::vector<CollectiveCall> fuse_messages(const std::vector<CollectiveCall>& messages);

}  // namespace ringside
