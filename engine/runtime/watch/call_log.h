#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/runtime/calls/call_signature.h"

namespace ringside {

/// Issues a memory fence. Thread-sanitizer builds omit it: the sanitizer does not support fences, and all data that
/// this one orders is atomic.
inline void order_calls([[maybe_unused]] std::memory_order order) {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(order);
#endif
}

/// The calls that one rank has begun, which the other ranks of the host can read at any time. A run of equal calls is
/// one entry: a job that repeats a call writes nothing that other ranks read, so their caches stay valid.
///
/// Ordering   append() stores with release before the call's first message, so a rank that has received that message
///            and then loads with acquire sees the entry. LL messages imply no memory order, so append() ends and
///            CallComparison::look() begins with a fence (on x86-64 no instruction).
/// Threads    one thread appends through one Writer; any thread may read
/// Ownership  a view's memory is zeroed shared memory, alive as long as any view
class CallLog {
 public:
  static constexpr std::uint64_t kRuns = 32;  ///< number of latest runs that are kept

  struct Run {
    std::atomic<std::uint64_t> first;  ///< number of the run's first call
    std::array<std::atomic<std::uint64_t>, std::tuple_size_v<CallWords>> words;
  };
  struct Memory {
    /// Number of calls; written at each call, rarely read
    alignas(128) std::atomic<std::uint64_t> begun;
    alignas(
        /// Number of runs ever begun; read at each call, rarely written
        128) std::atomic<std::uint64_t> runs;
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
    /// Number of the next run's first call; maximum: this is the last run
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
    [[nodiscard]] bool is_last() const { return end == std::numeric_limits<std::uint64_t>::max(); }
  };
  /// Returns the run that contains call `number`; for a call that has not begun, the last run, which it may continue.
  /// returns  nothing if the run is no longer kept
  [[nodiscard]] std::optional<Found> find(std::uint64_t number) const;

  /// Returns the number of the oldest call that find() still returns.
  [[nodiscard]] std::uint64_t oldest() const;

  class Writer {
   public:
    explicit Writer(Memory& memory) : memory_(&memory) {}

    /// Records that the next call, number begun(), has begun.
    /// returns  whether it differs from the previous call
    bool append(const CallSignature& signature);

    /// Records a report from a rank on another host: its calls from `number` until its next report have this signature.
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

/// Compares two call logs incrementally as they grow.
///
/// Threads  one
class CallComparison {
 public:
  CallComparison(CallLog mine, CallLog theirs) : mine_(mine), theirs_(theirs) {}

  /// Compares the calls that both ranks have begun and that were not compared yet. While both repeat their calls, it
  /// costs two loads.
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
  std::uint64_t verified_ = 0;  ///< number of the first call that was not compared yet
  bool is_settled_ =
      false;  ///< the calls to compare next are of both logs' last runs, which are equal
};

}  // namespace ringside
