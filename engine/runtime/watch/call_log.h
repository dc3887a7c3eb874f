#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/runtime/calls/call_signature.h"

namespace ringside {

/// A fence. The thread sanitizer does not support fences, and warns; it needs none here, since all that this one orders
/// is atomic.
inline void order_calls([[maybe_unused]] std::memory_order order) {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(order);
#endif
}

/// The calls that one rank has begun, readable by other ranks of the host at any time: a
/// run of equal calls is one entry, so that a job that repeats itself writes nothing that others read,
/// and what they read stays in their caches.
///
/// Ordering   append() comes before the call's first message, with release, so a rank that has taken that
///            message and then looks with acquire sees the entry. LL's messages carry no order of their own,
///            so append() ends and CallComparison::look() begins with a fence (on x86-64 no instruction).
/// Threads    one appends, by one Writer; all may look
/// Ownership  a view's memory is zeroed shared memory, alive as long as any view
class CallLog {
 public:
  static constexpr std::uint64_t kRuns = 32;  ///< that can be looked back at

  struct Run {
    std::atomic<std::uint64_t> first;  ///< number of the run's first call
    std::array<std::atomic<std::uint64_t>, std::tuple_size_v<CallWords>> words;
  };
  struct Memory {
    alignas(128) std::atomic<std::uint64_t> begun;  ///< calls; written with each, seldom looked at
    alignas(
        128) std::atomic<std::uint64_t> runs;  ///< ever begun; looked at with each, seldom written
    alignas(128) std::array<Run, kRuns> run;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  explicit CallLog(Memory& memory) : memory_(&memory) {}

  [[nodiscard]] std::uint64_t begun() const {
    return memory_->begun.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t runs() const { return memory_->runs.load(std::memory_order_acquire); }

  struct Found {
    CallSignature signature;
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();  ///< where the next run begins
  };
  /// The run that call `number` belongs to.
  /// shape    number < begun()
  /// returns  nothing when that is too long ago
  [[nodiscard]] std::optional<Found> find(std::uint64_t number) const;

  /// The first call that find() still knows.
  [[nodiscard]] std::uint64_t oldest() const;

  class Writer {
   public:
    explicit Writer(Memory& memory) : memory_(&memory) {}

    /// Call number begun() has begun.
    /// returns  whether it differs from the one before
    bool append(const CallSignature& signature);

    /// What a rank on another host has reported of its call `number`; it holds for the calls until its next report.
    void append_at(std::uint64_t number, const CallSignature& signature);

   private:
    void write_run(std::uint64_t first, const CallSignature& signature);

    Memory* memory_;
    std::uint64_t begun_ = 0;
    std::uint64_t runs_ = 0;
    CallSignature last_;
  };

 private:
  Memory* memory_;
};

/// The first call at which two ranks differ.
struct CallDifference {
  std::uint64_t call = 0;
  CallSignature mine;
  CallSignature theirs;
};

/// Compares two logs as they grow.
///
/// Threads  one
class CallComparison {
 public:
  CallComparison(CallLog mine, CallLog theirs) : mine_(mine), theirs_(theirs) {}

  /// Compares the calls that both have begun and that it has not seen yet. Two loads while both repeat
  /// their calls.
  [[nodiscard]] std::optional<CallDifference> look() {
    order_calls(std::memory_order_acquire);
    const std::uint64_t my_runs = mine_.runs();
    const std::uint64_t their_runs = theirs_.runs();
    if (is_settled_ && my_runs == my_runs_ && their_runs == their_runs_) return std::nullopt;
    my_runs_ = my_runs;
    their_runs_ = their_runs;
    return look_closely();
  }

 private:
  std::optional<CallDifference> look_closely();

  CallLog mine_;
  CallLog theirs_;
  std::uint64_t my_runs_ = 0;
  std::uint64_t their_runs_ = 0;
  std::uint64_t verified_ = 0;  ///< calls before this one are alike
  bool is_settled_ = false;     ///< the last runs are alike, too
};

}  // namespace ringside
