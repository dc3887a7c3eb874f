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

/// Common to both ends of a connection.
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

  /// The pages that both ends have mapped, where slots travel so: initially 0, aligned to 128 bytes, and as long as
  /// slots and counters of the connection's protocol. A user that puts other data there uses the ends for
  /// nothing else but abort(). Empty: there are none.
  [[nodiscard]] virtual std::span<std::byte> shared_pages() const { return {}; }
  /// The Unix socket between the two processes, for users of shared_pages() that have open files to pass
  /// (file_passing.h). -1: there is none.
  [[nodiscard]] virtual int file_socket() const { return -1; }

  /// Which of the offered slots (Joint::lent) it works on.
  [[nodiscard]] virtual LentUse lent() const { return {}; }
};

/// The sending end of one direction of one channel between two ranks.
///
/// Ordering   slots arrive in the order they were posted
/// Ownership  a slot is the caller's from acquire() to post(), then the transport's
class SendEnd : public TransportEnd {
 public:
  /// The next free slot, or an empty span while all 8 are in flight. Never blocks. On lent slots, which may be a GPU's, the
  /// span may be no memory that processors read.
  /// errors  PeerGone: the receiver closed or died.  Aborted: abort() was called.
  virtual Result<std::span<std::byte>> acquire() = 0;

  /// Passes `size` bytes of the acquired slot to the receiver.  shape  1 .. slot_size()
  /// errors  PeerGone, Aborted; InvalidArgument: no slot is held, or size out of shape.
  virtual Status post(Bytes size) = 0;

  /// Fills the next free slot with `from` and posts it: shorter for data that are in memory already. LL
  /// and LL128 make their lines straight from it.
  /// returns  false: no slot is free.  shape  1 .. slot_size() bytes
  /// errors   as acquire() and post()
  virtual Result<bool> send(std::span<const std::byte> from) {
    RINGSIDE_TRY(const std::span<std::byte> room, acquire());
    if (room.empty()) return false;
    if (from.size() <= room.size()) std::memcpy(room.data(), from.data(), from.size());
    RINGSIDE_TRY(post(Bytes{from.size()}));
    return true;
  }

  /// Whether the receiver reads and writes the SharedMemory of this process in place, so that the two
  /// calls below work.
  [[nodiscard]] virtual bool reaches_memory() const { return false; }

  /// Sends the address of the bytes instead of the bytes. They must not change until is_drained().
  /// result   where the receiver may store its result; or nowhere
  /// returns  false: no slot is free.  shape  bytes: 1 .. slot_size()
  /// errors   as send()
  virtual Result<bool> refer([[maybe_unused]] SharedSpan data, [[maybe_unused]] SharedSpan result,
                             [[maybe_unused]] std::size_t bytes) {
    return Error{ErrorCode::Unsupported, "this connection carries no references"};
  }

  /// Announces that the data lie already where the receiver wants them.
  /// returns, shape, errors  as refer()
  virtual Result<bool> announce([[maybe_unused]] std::size_t bytes) {
    return Error{ErrorCode::Unsupported, "this connection carries no references"};
  }

  /// Of an end on lent slots: how many messages have left their slots, which may be refilled without acquire().
  [[nodiscard]] virtual std::uint64_t done() const { return 0; }

  /// Whether everything posted has left this process, so that the caller may turn to other work.
  [[nodiscard]] virtual bool is_drained() const = 0;
};

/// The receiving end.
///
/// Ordering   slots come in the order they were posted
/// Ownership  a slot is the caller's from peek() to release(), then the transport's
class RecvEnd : public TransportEnd {
 public:
  /// The oldest slot that has arrived, or an empty span while there is none. Never blocks. Asking
  /// again before release() gives the same slot. errors  PeerGone: the sender closed or died and
  /// nothing more can come.  Aborted.
  /// A span of some bytes at address null: the data lie already where this rank has asked for them.
  virtual Result<std::span<const std::byte>> peek() = 0;

  /// Of an end on lent slots: how many messages have ever arrived, as of the last progress(). All that are not released may be
  /// read.
  [[nodiscard]] virtual std::uint64_t arrived() const { return 0; }

  /// Where the sender wants the result of the slot that peek() gave; empty: nowhere. Writing there must
  /// end before announce() on the connection back.
  [[nodiscard]] virtual std::span<std::byte> landing() const { return {}; }

  /// Gives the slot from peek() back to the sender.
  /// errors  PeerGone, Aborted; InvalidArgument: no slot is held.
  virtual Status release() = 0;

  /// Moves the oldest slot to `to` and gives it back. LL and LL128 take it out of their lines straight into
  /// `to`; so, asked again after false, it wants the same `to`, and no peek() between.
  /// returns  false: it has not arrived, or not all of it
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
