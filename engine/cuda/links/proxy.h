#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/cuda/device/device_call.h"
#include "engine/runtime/calls/failure.h"
#include "engine/runtime/host/wait.h"
#include "engine/transport/end.h"
#include "ringside/units.h"

namespace ringside {

/// Moves messages between a kernel's slots in this process's memory and an end of a connection between processes.
///
/// Protocols  Simple and LL. Only the data is sent; each side makes its own LL lines
/// Copies     none if the end uses the kernel's slots (TransportEnd::lent()); else one
/// Threads    one at a time
/// Ownership  end and memory outlive it
class Proxy {
 public:
  virtual ~Proxy() = default;

  /// Moves one message, if that is possible without waiting.
  /// returns  whether it moved a message
  /// errors   as the end's; Corrupt: a message that does not fit into a slot
  virtual Result<bool> move() = 0;

  /// Returns whether all messages that the kernel has posted have been sent.
  [[nodiscard]] virtual bool is_drained() const = 0;
  /// Checks that the peer of the end still exists.
  /// errors  as the end's
  virtual Status check_peer() = 0;
};

/// The slots and the end that one proxy serves.
struct ProxyFifo {
  DeviceEnd end;  ///< addresses for this process
  Protocol protocol = Protocol::Simple;
  std::int64_t slot = 0;
  int slots = kSlots;
  /// Makes received data visible to kernels, if the memory needs it. Empty: not needed
  std::function<Status()> flush = {};
};

/// Makes a proxy that sends a kernel's messages to another process.
/// shape  lent slots of an end are the fifo's
std::unique_ptr<Proxy> make_send_proxy(const ProxyFifo& fifo, SendEnd& to);
/// Makes a proxy that passes messages of other processes to a kernel.
std::unique_ptr<Proxy> make_recv_proxy(const ProxyFifo& fifo, RecvEnd& from);

/// Runs all proxies of a launch until the launch has ended and all its posted data has been sent, or until something
/// has failed.
/// is_over  whether the launch has ended
/// errors   the errors of the ends; Timeout: the launch has ended, and nothing was sent for the duration
///          policy.deadline
Status serve(std::span<Proxy* const> proxies, const std::atomic<bool>& is_over,
             const Failure& failure, const WaitPolicy& policy);

}  // namespace ringside
