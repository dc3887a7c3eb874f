#include "diag/hangdetect/readers/coll_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kComm = 0x5500;

/// COLL lines of processes on one host; the process of rank r has pid 100 + r and sees four ranks.
class Writer {
 public:
  explicit Writer(CollLines& lines) : lines_(lines) {}

  void init(int rank) {
    logs::CommEvent comm;
    comm.rank = rank;
    comm.nranks = 4;
    comm.comm = kComm;
    comm.comm_id = 0xabc;
    lines_.take_comm(comm, speaker(rank));
  }

  /// nranks  size in the line; -1: a version of NCCL that does not print it
  void call(int rank, int nranks = 4, int datatype = 7) {
    logs::Record record;
    record.place.line = ++line_;
    auto& call = record.make<logs::CollCall>();
    call.function = "AllReduce";
    call.count = 64;
    call.datatype = static_cast<std::int16_t>(datatype);
    call.comm = kComm;
    call.nranks = nranks;
    lines_.take(record, speaker(rank), rank);
  }

 private:
  static logs::Speaker speaker(int rank) { return {"node-0", 100 + rank}; }

  CollLines& lines_;
  std::uint32_t line_ = 0;
};

std::vector<RankDump> finish(CollLines& lines, const Names& names, int stated) {
  const WhereFunction where = [](logs::Place place) {
    return std::pair<std::string, std::int64_t>("job.log", place.line);
  };
  return lines.finish(4, stated, where, LogGroups(names, {}));
}

// Rank 0 makes ten calls and rank 1 nine; four of each rank are kept.
TEST(CollLines, TheNewestCallsOfALongLogDecide) {
  Names names;
  CollLines lines(names, 4);
  Writer log(lines);
  for (const int rank : {0, 1}) log.init(rank);
  for (int call = 0; call < 10; ++call) {
    log.call(0);
    if (call < 9) log.call(1);
  }
  EXPECT_THAT(lines.behind(), ElementsAre(1));
  const std::vector<RankDump> dumps = finish(lines, names, 4);
  ASSERT_EQ(dumps.size(), 2);
  const auto sequences = [](const RankDump& dump) {
    std::vector<std::uint32_t> all;
    for (const Call& call : dump.calls) all.push_back(call.sequence);
    return all;
  };
  EXPECT_THAT(sequences(dumps[0]), ElementsAre(7, 8, 9, 10));
  EXPECT_THAT(sequences(dumps[1]), ElementsAre(6, 7, 8, 9));
  EXPECT_TRUE(dumps[0].calls.back().is_pending());
  EXPECT_FALSE(dumps[0].calls.front().is_pending());
}

TEST(CollLines, ARankBeyondTheSizesThatLinesStateIsOfAnotherJob) {
  for (const bool is_stated : {true, false}) {
    Names names;
    CollLines lines(names);
    Writer log(lines);
    for (const int rank : {0, 1, 9}) log.call(rank, is_stated ? 4 : -1);
    const std::vector<RankDump> dumps = finish(lines, names, is_stated ? 4 : 0);
    std::vector<int> ranks;
    for (const RankDump& dump : dumps) ranks.push_back(dump.rank);
    if (is_stated) {
      EXPECT_THAT(ranks, ElementsAre(0, 1));
    } else {
      EXPECT_THAT(ranks, ElementsAre(0, 1, 9));
    }
  }
}

TEST(CollLines, ALargerCommunicatorInTheLinesOverridesTheStatedSize) {
  Names names;
  CollLines lines(names);
  Writer log(lines);
  for (const int rank : {0, 1, 9}) log.call(rank, 16);
  EXPECT_EQ(finish(lines, names, 4).size(), 3);
}

// Dumps and lines of one call must compare as equal, so lines use the recorder's names of types.
TEST(CollLines, TypesHaveTheNamesOfTheRecorder) {
  Names names;
  CollLines lines(names);
  Writer log(lines);
  for (const int rank : {0, 1}) {
    for (const int type : {3, 9, 12}) log.call(rank, 4, type);
  }
  const std::vector<RankDump> dumps = finish(lines, names, 4);
  ASSERT_EQ(dumps.size(), 2);
  std::vector<std::string> types;
  for (const Call& call : dumps[0].calls) types.push_back(names.signature(call.signature).types);
  EXPECT_THAT(types, ElementsAre("UInt32", "BFloat16", "type 12"));
}

TEST(CollLines, OneRankAloneCannotBeCompared) {
  Names names;
  CollLines lines(names);
  Writer log(lines);
  log.call(0);
  EXPECT_THAT(finish(lines, names, 4), IsEmpty());
  EXPECT_THAT(lines.behind(), IsEmpty());
}

}  // namespace
}  // namespace ringside::hang
