#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/result.h"
#include "engine/protocol/size_error.h"
#include "engine/transport/lent_slots.h"
#include "engine/transport/shm/shared_span.h"
#include "ringside/units.h"

namespace ringside {

/// The operations that both ends of a connection share.
///
/// Threads  one thread uses an end; any thread may call abort(), at any time
class TransportEnd {
 public:
  virtual ~TransportEnd() = default;

  /// Moves the data that can move without waiting. Call it while this rank waits for something
  /// else: a medium without a thread of its own (tcp) has no other time to work. errors  PeerGone,
  /// Aborted
  virtual Status progress() = 0;

  /// Checks through the operating system whether the peer still lives: a system call, for the slow part of a
  /// wait. errors  PeerGone: the peer closed or died.  Aborted.
  virtual Status check_peer() = 0;

  virtual void abort() noexcept = 0;
  [[nodiscard]] virtual Bytes slot_size() const = 0;

  /// Returns the pages that both ends have mapped for slots and counters: zeroed, aligned to 128 bytes. Empty if the
  /// transport shares no memory. A caller that stores other data there may use the ends only for abort().
  [[nodiscard]] virtual std::span<std::byte> shared_pages() const { return {}; }
  /// Returns the Unix socket between the two processes, on which users of shared_pages() can pass open files
  /// (file_passing.h), or -1 if there is none.
  [[nodiscard]] virtual int file_socket() const { return -1; }

  /// Returns which of the offered buffers (Joint::lent) the end uses for its slots.
  [[nodiscard]] virtual LentUse lent() const { return {}; }
};

/// The sending end of one direction of one channel between two ranks.
///
/// Ordering   slots arrive in the order they were posted
/// Ownership  the caller owns a slot from acquire() to post(), then the transport owns it
class SendEnd : public TransportEnd {
 public:
  /// Returns the next free slot, or an empty span while all 8 are in flight. Never blocks. With lent slots the span may
  /// be GPU memory, which the CPU cannot access.
  /// errors  PeerGone: the receiver closed or died.  Aborted: abort() was called.
  virtual Result<std::span<std::byte>> acquire() = 0;

  /// Passes `size` bytes of the acquired slot to the receiver.  shape  1 .. slot_size()
  /// errors  PeerGone, Aborted; InvalidArgument: no slot is held, or size out of shape.
  virtual Status post(Bytes size) = 0;

  /// Copies `from` into the next free slot and posts it. LL and LL128 pack their lines directly from `from`.
  /// returns  false: no slot is free.  shape  1 .. slot_size() bytes
  /// errors   as acquire() and post()
  virtual Result<bool> send(std::span<const std::byte> from) {
    RINGSIDE_TRY(const std::span<std::byte> room, acquire());
    if (room.empty()) return false;
    if (from.size() <= room.size()) std::memcpy(room.data(), from.data(), from.size());
    RINGSIDE_TRY(post(Bytes{from.size()}));
    return true;
  }

  /// Returns whether the receiver can access this process's SharedMemory in place, which refer() and announce()
  /// require.
  [[nodiscard]] virtual bool reaches_memory() const { return false; }

  /// Sends the address of `data` instead of its bytes, which must not change until is_drained().
  /// result   where the receiver may store its result; a null region: nowhere
  /// returns  false: no slot is free.  shape  bytes: 1 .. slot_size()
  /// errors   as send()
  virtual Result<bool> refer([[maybe_unused]] SharedSpan data, [[maybe_unused]] SharedSpan result,
                             [[maybe_unused]] std::size_t bytes) {
    return Error{ErrorCode::Unsupported, "this connection carries no references"};
  }

  /// Sends a message without data: the data is already at the receiver's destination (RecvEnd::landing).
  /// returns, shape, errors  as refer()
  virtual Result<bool> announce([[maybe_unused]] std::size_t bytes) {
    return Error{ErrorCode::Unsupported, "this connection carries no references"};
  }

  /// With lent slots: returns how many messages have left their slots, which may then be refilled without acquire().
  [[nodiscard]] virtual std::uint64_t done() const { return 0; }

  /// Returns whether all posted data has left this process, so that the caller need not call progress() any more.
  [[nodiscard]] virtual bool is_drained() const = 0;
};

/// The receiving end of one direction of one channel between two ranks.
///
/// Ordering   slots arrive in the order in which they were posted
/// Ownership  the caller owns a slot from peek() to release(), then the transport owns it
class RecvEnd : public TransportEnd {
 public:
  /// Returns the oldest slot that has arrived, or an empty span while there is none. Never blocks. Returns the same
  /// slot until release(). A non-empty span at address null means that the data is already at this rank's destination.
  /// errors  PeerGone: the sender closed or died, and all its slots have been released.  Aborted
  virtual Result<std::span<const std::byte>> peek() = 0;

  /// With lent slots: returns how many messages had arrived at the last progress(). All that are not released may be
  /// read.
  [[nodiscard]] virtual std::uint64_t arrived() const { return 0; }

  /// Returns where the sender wants the result for the slot of peek(); empty: nowhere. Finish writing there before
  /// announce() on the reverse connection.
  [[nodiscard]] virtual std::span<std::byte> landing() const { return {}; }

  /// Returns the slot of peek() to the sender.
  /// errors  PeerGone, Aborted; InvalidArgument: no slot is held.
  virtual Status release() = 0;

  /// Copies the oldest slot to `to` and releases it. LL and LL128 unpack their lines directly into `to`: after false,
  /// repeat the call with the same `to`, without peek() in between.
  /// returns  false: the slot has not arrived completely
  /// errors   as peek() and release(); InvalidArgument: the slot does not hold as many bytes as `to`
  virtual Result<bool> take(std::span<std::byte> to) {
    RINGSIDE_TRY(const std::span<const std::byte> arrived, peek());
    if (arrived.empty()) return false;
    if (arrived.size() != to.size()) return other_size(arrived.size(), to.size());
    std::memcpy(to.data(), arrived.data(), to.size());
    RINGSIDE_TRY(release());
    return true;
  }
};

}  // namespace ringside
