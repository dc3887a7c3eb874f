#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "diag/hangdetect/examine.h"
#include "diag/hangdetect/verdict/connections.h"
#include "diag/report/sentences/hang_sentences.h"
#include "trace/file_sink.h"

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

/// A traced job of 3 ranks on a ring of one channel: rank r sends to r + 1 and receives from r - 1, two
/// chunks a call. The folder goes with the object.
class TracedJob {
 public:
  TracedJob() {
    std::filesystem::create_directories(folder_);
    auto made = record_to_file(path_.string(), this_process_info(TraceClock::HostMonotonic));
    recorder_ = *std::move(made);
    lane_ = recorder_->add_lane();
  }
  ~TracedJob() { std::filesystem::remove_all(folder_); }
  TracedJob(const TracedJob&) = delete;
  TracedJob& operator=(const TracedJob&) = delete;

  /// Chunks that the rank sends and receives in a call, and whether the recorder saw the call's end.
  void call(int rank, std::uint32_t sequence, std::int64_t begin_ns, std::int64_t end_ns,
            int sends = 2, int receives = 2, bool has_event = true) {
    TraceEvent event;
    event.rank = rank;
    event.sequence = sequence;
    event.bytes = 64;
    event.begin_ns = begin_ns;
    event.end_ns = begin_ns + 1000;
    for (int i = 0; i < std::max(sends, receives); ++i) {
      event.step = static_cast<std::uint32_t>(i);
      const bool receives_one = i < receives;
      const bool sends_one = i < sends;
      event.primitive = receives_one && sends_one ? Primitive::RecvCopySend
                        : receives_one            ? Primitive::Recv
                                                  : Primitive::Send;
      event.recv_peer = receives_one ? (rank + 2) % 3 : -1;
      event.send_peer = sends_one ? (rank + 1) % 3 : -1;
      lane_->record(event);
    }
    if (!has_event) return;
    event.kind = EventKind::Collective;
    event.end_ns = end_ns;
    event.bytes = 4096;
    event.recv_peer = event.send_peer = -1;
    lane_->record(event);
  }
  void all_call(std::uint32_t sequence) {
    const std::int64_t begin = kSecond + sequence * 1'000'000;
    for (const int rank : {0, 1, 2}) call(rank, sequence, begin, begin + 100'000);
  }

  /// Writes all events so far to the file as one block.
  void write_block() { recorder_->flush(); }
  /// Changes a bit of the most recent block.
  void damage_last_block() { flip_bit(bytes() - 40); }
  /// Flips a bit, or restores it.
  void flip_bit(std::uintmax_t at) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 1));
  }
  [[nodiscard]] std::uintmax_t bytes() const { return std::filesystem::file_size(path_); }

  [[nodiscard]] Examination examined() const {
    recorder_->flush();
    auto all = examine({folder_.string()});
    EXPECT_TRUE(all) << all.error().message;
    return all ? *std::move(all) : Examination{};
  }
  [[nodiscard]] Explanation verdict() const { return examined().verdict.best; }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  (std::string("ringside-traced-") +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::filesystem::path path_ = folder_ / "job.rtrace";
  std::unique_ptr<TraceRecorder> recorder_;
  TraceLane* lane_ = nullptr;
};

TEST(Traces, ARunThatEndedIsNotAHang) {
  TracedJob job;
  for (std::uint32_t k = 0; k < 5; ++k) job.all_call(k);
  EXPECT_EQ(job.verdict().kind, Kind::NotAHang);
}

// Ranks 0 and 1 gave call 5 up after 4 s; rank 2 began it 5 s after them.
TEST(Traces, ARankThatBeginsACallWhenOthersHaveGivenItUpNeverCame) {
  TracedJob job;
  for (std::uint32_t k = 0; k < 5; ++k) job.all_call(k);
  for (const int rank : {0, 1}) job.call(rank, 5, 2 * kSecond, 6 * kSecond, 1, 0);
  job.call(2, 5, 7 * kSecond, 7 * kSecond + 1000, 1, 0);
  const Explanation best = job.verdict();
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(2));
  EXPECT_THAT(details_of(best), testing::Contains(HasSubstr("rank 0 waits for chunk 0 of rank 2")));
}

// The job was killed. Ranks 0 and 1 wrote their events when they began to wait in call 9; the events that rank 2 had
// not written when it froze go back to call 7.
TEST(Traces, ARankWhoseEventsEndBeforeTheOthersCallWasStuck) {
  TracedJob job;
  for (std::uint32_t k = 0; k < 7; ++k) job.all_call(k);
  for (std::uint32_t k = 7; k < 9; ++k) {
    for (const int rank : {0, 1}) job.call(rank, k, 2 * kSecond, 2 * kSecond + 1000);
  }
  job.call(2, 7, 2 * kSecond, 0, 1, 1, false);
  for (const int rank : {0, 1}) job.call(rank, 9, 3 * kSecond, 0, 1, 0, false);
  const Explanation best = job.verdict();
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, ElementsAre(2));
  EXPECT_LT(best.confidence, 0.8) << "a trace of a killed job does not say how long they waited";
}

// All gave call 5 up. Rank 0 has sent both chunks to rank 1, which received one and lacks nothing else:
// 0 -> 1 sent 2, received 1; 1 -> 2 sent 1 and received 1 of 2, so rank 2 waits for rank 1.
TEST(Traces, AChunkThatWasSentAndNeverArrivedNamesItsConnection) {
  TracedJob job;
  for (std::uint32_t k = 0; k < 5; ++k) job.all_call(k);
  job.call(0, 5, 2 * kSecond, 6 * kSecond, 2, 1);
  job.call(1, 5, 2 * kSecond, 6 * kSecond, 1, 1);
  job.call(2, 5, 2 * kSecond, 6 * kSecond, 1, 1);
  const Explanation best = job.verdict();
  EXPECT_EQ(best.kind, Kind::NetworkStall);
  EXPECT_THAT(best.culprits, IsEmpty());
  EXPECT_THAT(details_of(best),
              testing::Contains("rank 0 -> rank 1, channel 0: 2 chunks sent, 1 received"));
  EXPECT_THAT(why_of(best), HasSubstr("from rank 0 to rank 1 on channel 0"));
}

TEST(Traces, AReceiverThatAlsoLacksAnUnsentChunkWaitsForThatSender) {
  const std::vector<ConnectionProgress> connections = {
      {0, 1, 0, 5, 2, 1, 2},  // under way to rank 1, which
      {2, 1, 1, 5, 0, 0, 2},  // lacks one of rank 2 on the other channel
      {1, 2, 0, 5, 2, 1, 2},  // rank 2 lacks nothing that was not sent
  };
  const std::vector<ConnectionProgress> stalled = stalled_connections(connections);
  ASSERT_EQ(stalled.size(), 1U);
  EXPECT_EQ(stalled[0].receiver, 2);
}

// Ranks 0 and 1 wait in call 5. The last events of rank 2, all or none, were in the damaged block.
TEST(Traces, ARankWhoseNewestEventsMayBeLostIsNotACulprit) {
  for (const bool is_all_lost : {false, true}) {
    TracedJob job;
    for (std::uint32_t k = 0; k < 5; ++k) {
      for (const int rank : {0, 1}) job.call(rank, k, kSecond + k, kSecond + k + 1000);
      if (!is_all_lost) job.call(2, k, kSecond + k, kSecond + k + 1000);
    }
    for (const int rank : {0, 1}) job.call(rank, 5, 2 * kSecond, 6 * kSecond, 1, 0);
    job.write_block();
    job.call(2, 5, 2 * kSecond, 6 * kSecond, 1, 0);
    job.write_block();
    job.damage_last_block();
    const Examination all = job.examined();
    EXPECT_THAT(all.verdict.best.culprits, IsEmpty());
    EXPECT_EQ(all.verdict.best.kind, Kind::Unknown);
    EXPECT_LE(all.verdict.best.confidence, 0.3);
    EXPECT_THAT(details_of(all.verdict.best), IsEmpty());
    ASSERT_EQ(all.bad.size(), 1U);
    EXPECT_THAT(all.bad[0].error.message, HasSubstr("job.rtrace: "));
    EXPECT_THAT(all.bad[0].error.message, HasSubstr("could not be read"));
    EXPECT_THAT(all.bad[0].error.message, HasSubstr("how far rank"));
  }
}

// As above, with the damage among old calls: the last events of every rank are there, and show which rank is missing.
TEST(Traces, OldDamageIsReportedAndTheVerdictIsUnchanged) {
  TracedJob job;
  for (std::uint32_t k = 0; k < 3; ++k) job.all_call(k);
  for (const int rank : {0, 1}) job.call(rank, 3, 2 * kSecond, 2 * kSecond + 1000, 1, 1, false);
  job.write_block();
  job.damage_last_block();
  for (const int rank : {0, 1}) job.call(rank, 3, 2 * kSecond, 2 * kSecond + 1000, 1, 1);
  job.call(2, 3, 2 * kSecond, 2 * kSecond + 1000);
  for (std::uint32_t k = 4; k < 8; ++k) {
    for (const int rank : {0, 1, 2}) job.call(rank, k, 3 * kSecond + k, 3 * kSecond + k + 1000);
  }
  for (const int rank : {0, 1}) job.call(rank, 8, 4 * kSecond, 8 * kSecond, 1, 0);
  job.call(2, 8, 9 * kSecond, 9 * kSecond + 1000, 1, 0);
  const Examination all = job.examined();
  EXPECT_EQ(all.verdict.best.kind, Kind::MissingRank);
  EXPECT_THAT(all.verdict.best.culprits, ElementsAre(2));
  ASSERT_EQ(all.bad.size(), 1U);
  EXPECT_THAT(all.bad[0].error.message, HasSubstr("could not be read"));
}

// Rank 2 is absent. Whichever bit is wrong, either rank 2 is the culprit or there is none, and the loss is reported.
TEST(Traces, NoWrongBitMakesAnotherRankTheCulprit) {
  TracedJob job;
  for (std::uint32_t k = 0; k < 6; ++k) {
    for (const int rank : {0, 1, 2}) {
      job.call(rank, k, kSecond + k, kSecond + k + 1000);
      job.write_block();
    }
  }
  for (const int rank : {0, 1}) {
    job.call(rank, 6, 2 * kSecond, 6 * kSecond, 1, 0);
    job.write_block();
  }
  constexpr std::uintmax_t kFileHeader = 16;
  int named = 0;
  for (std::uintmax_t at = kFileHeader; at < job.bytes(); at += 61) {
    job.flip_bit(at);
    const Examination all = job.examined();
    job.flip_bit(at);
    EXPECT_EQ(all.bad.size(), 1U) << at;
    const std::vector<int>& culprits = all.verdict.best.culprits;
    if (culprits.empty()) continue;
    EXPECT_THAT(culprits, ElementsAre(2)) << at;
    ++named;
  }
  EXPECT_GT(named, 0) << "old damage takes nothing from what came last";
}

// An .rtrace file is recognised by its first bytes; one that is cut there is skipped, with its reason.
TEST(Traces, AFileThatOnlyStartsLikeATraceIsAnError) {
  const auto path = std::filesystem::temp_directory_path() / "ringside-no-trace.rtrace";
  std::ofstream(path, std::ios::binary) << "\x89RTRACE\n\1";
  EXPECT_FALSE(examine({path.string()}));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ringside::hang
