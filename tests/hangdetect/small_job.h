#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diag/hangdetect/examine.h"

namespace ringside::hang {

/// A job as a test writes it down: ranks, groups, calls.
///
///   SmallJob job(4);
///   const int world = job.add_group("0", {0, 1, 2, 3});
///   job.all_call(world, "nccl:all_reduce", 64, 3);   // three calls that all made and ended
///   job.call(0, world, "nccl:all_reduce", 64);       // rank 0 waits in a fourth
///   EXPECT_EQ(job.verdict().best.kind, ...);
class SmallJob {
 public:
  explicit SmallJob(int ranks);

  int add_group(const std::string& name, std::vector<int> members,
                const std::string& description = "");

  /// Adds one call of one rank; pending unless changed. Numbers are consecutive.
  void call(int rank, int group, const std::string& name, std::uint64_t count,
            bool is_done = false);
  /// Adds `times` calls that all members made and completed.
  void all_call(int group, const std::string& name, std::uint64_t count, int times = 1);
  /// Adds sends and receives that one rank starts together (batch_isend_irecv): pending, with one number for all.
  void batch(int rank, int group, const std::vector<std::string>& names, std::uint64_t count);
  /// Sets why the rank wrote its dump.
  void reason(int rank, const std::string& text) {
    dumps_[static_cast<std::size_t>(rank)].reason = text;
  }
  /// Sets when all dumps were written: so long after the last call. A rank's calls are as many milliseconds apart as there
  /// are ranks.
  void write_dumps_after(std::chrono::nanoseconds wait) {
    for (RankDump& dump : dumps_) dump.written_ns = now_ns_ + wait.count();
  }
  /// Lets time pass between two calls.
  void pause(std::chrono::nanoseconds length) { now_ns_ += length.count(); }
  /// Returns what the logs show of a rank, to be filled in.
  RankNotes& notes(int rank) { return notes_[rank]; }
  /// Drops the rank's dump.
  void lose(int rank);

  /// Returns the verdict of decide().
  [[nodiscard]] Verdict verdict(const LogFacts& facts = {}) const;
  /// Returns the result of examine() for these dumps alone; it takes over the names.
  [[nodiscard]] Examination examination() &&;
  [[nodiscard]] const std::vector<RankDump>& dumps() const { return dumps_; }

 private:
  struct GroupState {
    std::string name;
    std::string description;
    std::vector<int> members;
    std::vector<std::uint32_t> collectives, transfers;  ///< by rank: last number
  };
  [[nodiscard]] std::vector<RankDump> dumps_left() const;

  std::unique_ptr<Names> names_ = std::make_unique<Names>();
  std::vector<RankDump> dumps_;
  std::vector<GroupState> groups_;
  std::map<int, RankNotes> notes_;
  std::vector<bool> is_lost_;
  std::int64_t now_ns_ = 1'700'000'000'000'000'000;
};

}  // namespace ringside::hang
