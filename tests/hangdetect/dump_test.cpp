#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "diag/hangdetect/examine.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/dump_json.h"
#include "tests/support/other_user.h"

namespace ringside::hang {
namespace {

namespace fs = std::filesystem;

Result<RankDump> parse(const std::string& text, Names& names) { return parse_dump(text, names); }

TEST(DumpJson, ADumpOfTheNewestFormatIsRead) {
  Names names;
  const auto dump = parse(
      R"({"version":"2.10","comm_lib_version":"2.27.5",
          "pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},
          "pg_status":{"0":{"last_enqueued_collective":"5","last_started_collective":"5",
                            "last_completed_collective":"4"}},
          "entries":[{"record_id":9,"pg_id":0,"process_group":["0","default_pg"],
            "collective_seq_id":5,"p2p_seq_id":0,"op_id":5,"profiling_name":"nccl:all_reduce",
            "time_created_ns":1750000000000000000,"input_sizes":[[4,4]],"input_dtypes":["Float"],
            "output_sizes":[[4,4]],"output_dtypes":["Float"],"state":"started",
            "time_discovered_started_ns":1750000000100000000,"time_discovered_completed_ns":0,
            "retired":false,"timeout_ms":600000,"is_p2p":false}]})",
      names);
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(dump->library, "2.27.5");
  ASSERT_EQ(dump->calls.size(), 1U);
  EXPECT_EQ(dump->calls[0].record, 9U);
  EXPECT_EQ(dump->calls[0].state, CallState::Started);
  ASSERT_EQ(dump->groups.size(), 1U);
  EXPECT_THAT(dump->groups[0].ranks, testing::ElementsAre(0, 1));
  ASSERT_EQ(dump->statuses.size(), 1U);
  EXPECT_EQ(dump->statuses[0].enqueued, 5) << "text in JSON";
}

TEST(DumpJson, ADumpMayHaveNoEntries) {
  Names names;
  const auto dump = parse(R"({"version":"2.9","pg_config":{}})", names);
  ASSERT_TRUE(dump);
  EXPECT_TRUE(dump->calls.empty());
}

// In 1.x, groups have numbers, and all calls share one counter.
TEST(DumpJson, FormatsBeforeTwoAreRead) {
  Names names;
  const auto dump = parse(
      R"({"version":"1.4","pg_config":{"0":[0,1,2]},
          "entries":[{"pg_id":0,"seq_id":7,"profiling_name":"nccl:broadcast","state":"completed",
                      "input_sizes":[[3]],"output_sizes":[[3]],"retired":true}]})",
      names);
  ASSERT_TRUE(dump) << dump.error().message;
  ASSERT_EQ(dump->calls.size(), 1U);
  EXPECT_EQ(dump->calls[0].sequence, 7U);
  EXPECT_EQ(names.group(dump->calls[0].group).name, "0");
  ASSERT_EQ(dump->groups.size(), 1U);
  EXPECT_EQ(dump->groups[0].ranks.size(), 3U);
}

TEST(DumpJson, TheFirstFormatOfAllIsAPlainList) {
  Names names;
  const auto dump = parse(
      R"([{"pg_id":0,"seq_id":1,"profiling_name":"nccl:all_reduce","time_created_us":1750000000000000,
           "state":"scheduled"}])",
      names);
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(dump->calls.size(), 1U);
}

TEST(DumpJson, RefusesOtherJson) {
  Names names;
  EXPECT_FALSE(parse(R"({"id":"x","nccl_version":"2.27","class":"missing_rank"})", names));
  EXPECT_FALSE(parse(R"({"version":"2.10",)", names));
  EXPECT_FALSE(parse("", names));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_FALSE(parse(deep, names));
}

/// Two ranks' dumps in folders of their own.
class TwoFolders : public testing::Test {
 protected:
  TwoFolders() {
    for (const char* const name : {"a/nccl_trace_rank_0", "b/nccl_trace_rank_1"}) {
      fs::create_directories((root_ / name).parent_path());
      std::ofstream(root_ / name) << R"({"version":"2.10","entries":[]})";
    }
  }
  ~TwoFolders() override {
    fs::permissions(root_ / "b", fs::perms::owner_all);
    fs::remove_all(root_);
  }
  const fs::path root_ = testing::TempDir() + "ringside_dumps_" + std::to_string(::getpid());
};

TEST_F(TwoFolders, SkipsAndNamesAFolderWithoutPermission) {
  fs::permissions(root_ / "b", fs::perms::none);
  const OtherUser user;
  const auto both = examine({root_.string()});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->dumps.size(), 1U);
  ASSERT_EQ(both->bad.size(), 1U);
  EXPECT_EQ(both->bad[0].error.message, (root_ / "b").string() + ": Permission denied");
  const auto none = examine({(root_ / "b").string()});
  ASSERT_FALSE(none) << "it is not said to hold nothing";
  EXPECT_EQ(none.error().message, (root_ / "b").string() + ": Permission denied");
  EXPECT_EQ(exit_status(none.error().code), 2);
}

TEST_F(TwoFolders, SkipsAndNamesAFileWithoutPermission) {
  const fs::path dump = root_ / "b" / "nccl_trace_rank_1";
  fs::permissions(dump, fs::perms::none);
  const OtherUser user;
  const auto both = examine({root_.string()});
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->bad.size(), 1U);
  EXPECT_EQ(both->bad[0].error.message, dump.string() + ": Permission denied");
  EXPECT_FALSE(examine({dump.string()}));
}

// The names are equal by their numbers: the two mentions of one file must still become one.
TEST(DumpFiles, AFileThatIsNamedTwiceIsReadOnce) {
  const fs::path folder = fs::temp_directory_path() / "ringside-named-twice";
  fs::create_directories(folder);
  const std::string plain = folder / "rank1.log";
  const std::string padded = folder / "rank01.log";
  for (const std::string& path : {plain, padded}) std::ofstream(path) << "step 1\n";
  const auto inputs = find_inputs({plain, padded, plain});
  fs::remove_all(folder);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->files.size(), 2U);
}

TEST(DumpFiles, TheRankIsTheLastNumberOfTheName) {
  EXPECT_EQ(rank_of_name("/tmp/nccl_trace_rank_12"), 12);
  EXPECT_EQ(rank_of_name("dump_3.pickle"), 3);
  EXPECT_EQ(rank_of_name("comm_lib_trace_rank_7.json"), 7);
  EXPECT_EQ(rank_of_name("node12_trace_rank_5"), 5);
  EXPECT_EQ(rank_of_name("trace"), -1);
  // Standard input and <(command): the number of a descriptor is not a rank.
  EXPECT_EQ(rank_of_name("/proc/self/fd/3"), -1);
  EXPECT_EQ(rank_of_name("/dev/fd/63"), -1);
}

/// Two dumps in a folder of their own, the second one truncated; both are removed with the object.
class CutJob {
 public:
  explicit CutJob(const std::string& status) {
    std::filesystem::create_directories(folder_);
    write(0, R"({"0":{"last_enqueued_collective":"6","last_completed_collective":"5"}})", false);
    write(1, status, true);
  }
  ~CutJob() { std::filesystem::remove_all(folder_); }
  CutJob(const CutJob&) = delete;
  CutJob& operator=(const CutJob&) = delete;
  [[nodiscard]] Explanation verdict() const {
    auto all = examine({folder_.string()});
    return all ? all->verdict.best : Explanation{};
  }

 private:
  /// Calls 5 and 6 of two ranks; the file of a cut one ends in call 6.
  void write(int rank, const std::string& status, bool is_cut) {
    std::string text =
        R"({"version":"2.10","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},)";
    if (!status.empty()) text += R"("pg_status":)" + status + ",";
    text += R"("entries":[)" + entry(5, "completed");
    if (is_cut) {
      text += R"(,{"record_id":6,"pg_id":0,"proc)";
    } else {
      text += "," + entry(6, "scheduled") + "]}";
    }
    std::ofstream(folder_ / ("nccl_trace_rank_" + std::to_string(rank))) << text;
  }
  static std::string entry(int number, const std::string& state) {
    const std::string n = std::to_string(number);
    return R"({"record_id":)" + n + R"(,"pg_id":0,"process_group":["0","default_pg"],)" +
           R"("collective_seq_id":)" + n + R"(,"profiling_name":"nccl:all_reduce",)" +
           R"("time_created_ns":1750000000000000000,"input_sizes":[[4]],"input_dtypes":["Float"],)" +
           R"("output_sizes":[[4]],"output_dtypes":["Float"],"state":")" + state +
           R"(","retired":false,"is_p2p":false})";
  }
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  (std::string("ringside-cut-") +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

// Rank 0 waits in call 6. The part that was cut off from rank 1 would show whether rank 1 is in it.
TEST(CutDump, ARankWhoseNewestCallsWereCutOffIsNotAbsent) {
  const Explanation best = CutJob("").verdict();
  EXPECT_LT(best.confidence, 0.8);
  EXPECT_NE(best.kind, Kind::NotAHang);
}

// The status of the group precedes the calls: 6 enqueued, 5 completed.
TEST(CutDump, TheStatusOfItsGroupsShowsWhereItWas) {
  const Explanation best =
      CutJob(R"({"0":{"last_enqueued_collective":"6","last_completed_collective":"5"}})").verdict();
  EXPECT_EQ(best.kind, Kind::NetworkStall) << "both are in call 6";
  EXPECT_THAT(best.culprits, testing::IsEmpty());
}

TEST(CutDump, ARankThatWasDoneWithItsLastCallNeverCameToTheNext) {
  const Explanation best =
      CutJob(R"({"0":{"last_enqueued_collective":"5","last_completed_collective":"5"}})").verdict();
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, testing::ElementsAre(1));
}

}  // namespace
}  // namespace ringside::hang
