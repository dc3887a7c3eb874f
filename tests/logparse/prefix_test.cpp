#include <gtest/gtest.h>

#include "diag/logparse/channel_records.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/message.h"
#include "diag/logparse/prefix_rows.h"
#include "diag/logparse/torch_lines.h"
#include "diag/logparse/wrappers.h"
#include "tests/logparse/records.h"

namespace ringside::logs {
namespace {

/// Returns the records of a text as `kind host:pid/launcher/local`, with a `!` where a line is torn.
std::vector<std::string> records_of(std::string_view text) {
  std::vector<std::string> found;
  each_record(text, [&](const Record& record, const Speaker& speaker) {
    found.push_back(std::string(to_string(record.kind)) + " " + speaker.host + ":" +
                    std::to_string(speaker.pid) + "/" + std::to_string(speaker.launcher_rank) +
                    "/" + std::to_string(speaker.local_rank) + (record.is_torn ? "!" : ""));
  });
  return found;
}
using Lines = std::vector<std::string>;

constexpr const char* kLine = "n01:411:980 [3] NCCL INFO Using network IB";

TEST(Wrappers, LauncherTagsGiveTheRank) {
  const auto with = [](const std::string& wrapper) { return records_of(wrapper + kLine); };
  EXPECT_EQ(with(""), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("[default3]:"), Lines{"network_in_use n01:411/-1/3"});
  EXPECT_EQ(with("[rank5]: "), Lines{"network_in_use n01:411/5/-1"});
  EXPECT_EQ(with("12: "), Lines{"network_in_use n01:411/12/-1"});
  EXPECT_EQ(with("  3: "), Lines{"network_in_use n01:411/3/-1"});
  EXPECT_EQ(with("[1,3]<stdout>:"), Lines{"network_in_use n01:411/3/-1"});
  EXPECT_EQ(with("[prterun-n01-77@1,3]<stderr>: "), Lines{"network_in_use n01:411/3/-1"});
  EXPECT_EQ(with("[1,3]Mon Mar  3 10:00:00 2025<stdout>:"), Lines{"network_in_use n01:411/3/-1"});
  EXPECT_EQ(with("[3] "), Lines{"network_in_use n01:411/3/-1"});
  EXPECT_EQ(with("node-7: "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("(TrainWorker pid=77, ip=10.0.0.2) "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("[pod/worker-0/pytorch] "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("[pod/worker-0] "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("[rank5] "), Lines{"network_in_use n01:411/5/-1"});
  EXPECT_EQ(with("(VllmWorker rank=1 pid=7) "), Lines{"network_in_use n01:411/1/-1"});
  EXPECT_EQ(with("(Worker_TP3 pid=7) "), Lines{"network_in_use n01:411/3/-1"});
  EXPECT_EQ(with("(Worker_DP1_TP3 pid=7) "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("2025-03-01T10:11:12.123456789Z stdout F "),
            Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("2025-03-01T10:11:12.123Z [default3]:"), Lines{"network_in_use n01:411/-1/3"});
  EXPECT_EQ(with("Mar  1 10:11:12 n01 python[77]: "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("[2025-03-01 10:11:12] "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("[2025-03-01 10:11:12 DP0 TP5] "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("[2025-03-01 10:11:12 TP5] "), Lines{"network_in_use n01:411/5/-1"});
  EXPECT_EQ(with("(VllmWorker pid=7) ERROR 08-12 09:10:11 worker_utils.py:226] "),
            Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("INFO 08-12 09:10:11 [core.py:58] "), Lines{"network_in_use n01:411/-1/-1"});
  EXPECT_EQ(with("my-app-xyz trainer "),
            (Lines{"fragment :-1/-1/-1!", "network_in_use n01:411/-1/-1"}));
}

/// Returns the keys of a wrapping, e.g. `rank=3 pid=77`.
std::string keys_of(const Wrapping& wrapping) {
  std::string keys;
  const auto add = [&](const char* name, const std::string& value) {
    keys += (keys.empty() ? "" : " ") + std::string(name) + "=" + value;
  };
  if (wrapping.launcher_rank >= 0) add("rank", std::to_string(wrapping.launcher_rank));
  if (wrapping.local_rank >= 0) add("local_rank", std::to_string(wrapping.local_rank));
  if (wrapping.pid >= 0) add("pid", std::to_string(wrapping.pid));
  if (!wrapping.host.empty()) add("host", std::string(wrapping.host));
  return keys;
}

TEST(Wrappers, EachPrefixRowMatchesItsSampleOnly) {
  for (const PrefixRow& row : prefix_rows()) {
    const std::string line = std::string(row.sample) + kLine;
    const Wrapping wrapping = strip_wrappers(line, false);
    EXPECT_EQ(wrapping.size, row.sample.size()) << row.pattern;
    EXPECT_EQ(keys_of(wrapping), row.keys) << row.pattern;
    const auto found = records_of(line);
    ASSERT_EQ(found.size(), 1U) << row.pattern;
    EXPECT_EQ(found[0].find("network_in_use n01:411"), 0U) << row.pattern;
  }
  EXPECT_EQ(strip_wrappers("[3]<stdin>:x", false).size, 0U);
  EXPECT_EQ(strip_wrappers("[rank=x] y", false).size, 0U);
}

TEST(Wrappers, TextThatLooksLikeALabelStaysText) {
  each_record("RuntimeError: bad\n[3] finished\n",
              [](const Record& record, const Speaker& speaker) {
                EXPECT_EQ(speaker.launcher_rank, -1) << record.line;
                EXPECT_TRUE(speaker.host.empty());
              });
}

TEST(Wrappers, TimesAreMicrosecondsSince1970) {
  // 2025-03-01 is day 20148; 10:11:12 is second 36672: (20148 * 86400 + 36672) s.
  constexpr std::int64_t kTime = (20148LL * 86400 + 36672) * 1000000;
  for (const std::string wrapper :
       {"[2025-03-01 10:11:12] ", "2025-03-01T10:11:12Z ", "2025-03-01 10:11:12 "}) {
    each_record(wrapper + kLine,
                [&](const Record& record, const Speaker&) { EXPECT_EQ(record.time_us, kTime); });
  }
}

TEST(Wrappers, DockerObjectsAreUnescaped) {
  const std::string text =
      R"({"log":"n01:411:980 [3] NCCL INFO Bootstrap : Using eth0:10.1.0.1\u003c0\u003e\n","stream":"stdout","time":"2025-03-01T10:11:12.5Z"})";
  bool is_found = false;
  each_record(text, [&](const Record& record, const Speaker& speaker) {
    is_found = true;
    EXPECT_EQ(record.kind, RecordKind::BootstrapInterface);
    EXPECT_EQ(speaker.host, "n01");
    EXPECT_EQ(record.text(), "Bootstrap : Using eth0:10.1.0.1<0>");
    EXPECT_EQ(record.time_us % 1000000, 500000);
  });
  EXPECT_TRUE(is_found);
}

TEST(Wrappers, PairsOfEscapesAreOneCharacter) {
  const auto text_of = [](const std::string& line) {
    std::string text;
    std::int64_t time_us = 0;
    return unwrap_json_line(line, text, time_us) ? text : "none";
  };
  EXPECT_EQ(text_of(R"({"log":"a \ud83d\ude00 \u20ac \u00e9"})"),
            "a \xf0\x9f\x98\x80 \xe2\x82\xac \xc3\xa9");
  EXPECT_EQ(text_of(R"({"log":"a \ud83d b \ude00"})"), "a \xef\xbf\xbd b \xef\xbf\xbd")
      << "a half alone is no character";
  EXPECT_EQ(text_of(R"({"log":"a \ud83d\ud83d\ude00"})"), "a \xef\xbf\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(text_of(R"({"log":"a \ud83d\u12"})"), "none");
}

TEST(Wrappers, PiecesOfAContainersLineAreJoined) {
  EXPECT_EQ(records_of("2025-03-01T10:11:12Z stdout P n01:411:980 [3] NCCL INFO Using net\n"
                       "2025-03-01T10:11:12Z stdout F work IB\n"),
            Lines{"network_in_use n01:411/-1/-1"});
}

TEST(Lines, ColoursAndCarriageReturnsAreTakenOut) {
  EXPECT_EQ(
      records_of(
          "\x1b[36m(W pid=7)\x1b[0m n01:411:980 [3] NCCL INFO Connected all rings\x1b[0m\r\n"),
      Lines{"connected n01:411/-1/-1"});
  EXPECT_EQ(records_of(std::string(" 10%|#   | 1/9\r 20%|##  | 2/9\r") + kLine),
            (Lines{"text :-1/-1/-1", "text :-1/-1/-1", "network_in_use n01:411/-1/-1"}));
  EXPECT_EQ(records_of(std::string("\0\0\0\0", 4) + kLine), Lines{"network_in_use n01:411/-1/-1"});
}

TEST(Lines, FoldedOnesCountTheirRepeats) {
  each_record("(W pid=7) ncclSystemError: x [repeated 7x across cluster]",
              [](const Record& record, const Speaker&) { EXPECT_EQ(record.repeats, 7); });
}

TEST(Lines, IndentedAndQuotedOnesKeepTheirRank) {
  for (const std::string paste : {"    ", "> ", ">     ", "trainer-1 | ", "job.out:", "  12\t"}) {
    each_record(paste + "[rank3]:[E301 10:20:30.123456789 F.cpp:632] Caught a fault",
                [](const Record& record, const Speaker& speaker) {
                  EXPECT_EQ(speaker.launcher_rank, 3) << record.line;
                  EXPECT_EQ(record.text(), "Caught a fault");
                });
  }
}

TEST(Lines, FoldedOnesOfTheLibraryEndBeforeTheCount) {
  EXPECT_EQ(records_of("(W pid=7) n01:411:980 [3] NCCL INFO Using network IB [repeated 7x across "
                       "cluster] (Ray deduplicates logs by default.)"),
            Lines{"network_in_use n01:411/-1/-1"});
  expect_record<ChannelEdge>(
      "(W pid=7) n01:411:980 [3] NCCL INFO Channel 00/0 : 3[3] -> 11[3] [send] via NET/Socket/3 "
      "[repeated 15x across cluster]",
      [](const ChannelEdge& edge, const Record& record) {
        EXPECT_EQ(edge.net, "Socket");
        EXPECT_FALSE(record.is_torn);
      });
}

TEST(TornLines, AreCutAtEachBeginning) {
  EXPECT_EQ(
      records_of("n01:411:980 [3] NCCL INFO Trees [0] 1/-1/-1->0->-n02:77:80 [1] NCCL INFO Using "
                 "network IB\n"
                 "n02:77:80 [1] NCCL INFO Connected all rings\n"),
      (Lines{"trees n01:411/-1/-1!", "network_in_use n02:77/-1/-1", "connected n02:77/-1/-1"}));
  // The edge's end is lost: it may have had GDRDMA. Where the next host is known, its letters are too.
  EXPECT_EQ(
      records_of("n02:77:80 [1] NCCL INFO Connected all trees\n"
                 "n01:411:980 [3] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/1"
                 "n02:77:80 [1] NCCL INFO Connected all rings"),
      (Lines{"connected n02:77/-1/-1", "channel_edge n01:411/-1/-1!", "connected n02:77/-1/-1"}));
  // A known host ends the text that is directly before it.
  EXPECT_EQ(
      records_of("n02:77:80 [1] NCCL INFO Connected all trees\n"
                 "n01:411:980 [3] NCCL INFO Setting affinity for GPU 3 ton02:77:80 [1] NCCL INFO "
                 "Connected all rings\n"),
      (Lines{"connected n02:77/-1/-1", "unknown n01:411/-1/-1!", "connected n02:77/-1/-1"}));
  EXPECT_EQ(
      records_of("[1,3]<stdout>:n01:411:980 [3] NCCL INFO Conne[1,4]<stdout>:n01:412:981 [4] NCCL "
                 "INFO Using network IB"),
      (Lines{"unknown n01:411/3/-1!", "network_in_use n01:412/4/-1"}));
  EXPECT_EQ(
      records_of("n01:411:980 [3] NCCL INFO NCCL_CROSS_NIC set by environmen[rank3]:[E301 "
                 "10:20:30.123456789 "
                 "ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation "
                 "timeout: WorkNCCL(SeqNum=812, "
                 "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600034 "
                 "milliseconds before timing "
                 "out."),
      (Lines{"unknown n01:411/-1/-1!", "message :-1/3/-1"}));
}

TEST(TornLines, EdgesThatEndEarlyAreMarked) {
  expect_record<ChannelEdge>(
      "n01:411:980 [3] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/I",
      [](const ChannelEdge&, const Record& record) { EXPECT_TRUE(record.is_torn); });
}

TEST(Warnings, ReadsWarningsOfAllVersionsAndPlugins) {
  const auto place = [](const std::string& line) {
    std::string found;
    each_record(line, [&](const Record& record, const Speaker& speaker) {
      EXPECT_EQ(record.level, Level::Warn) << line;
      EXPECT_EQ(speaker.host, "n01") << line;
      found = location(record);
    });
    return found;
  };
  EXPECT_EQ(
      place("\nn01:411:990 [7] transport/net_ib.cc:1333 NCCL WARN NET/IB : No IP interface found."),
      "transport/net_ib.cc:1333");
  EXPECT_EQ(place("[2026-01-01 00:00:00] n01:411:990 [7] transport/net_ib/p2p.cc:690 "
                  "(ncclIbLogCompletion) NCCL WARN x"),
            "transport/net_ib/p2p.cc:690 (ncclIbLogCompletion)");
  EXPECT_EQ(place("n01:411:990 [7] int plugin::poll(fid_cq*, unsigned long):326 NCCL WARN NET/OFI "
                  "Unable to retrieve "
                  "completion queue entries. RC: -5, ERROR: Input/output error"),
            "int plugin::poll(fid_cq*, unsigned long):326");
  EXPECT_EQ(records_of("n01:411:990 [7] 101.457613 init:1396 NCCL TRACE NET/OFI x"),
            Lines{"message n01:411/-1/-1"});
}

TEST(TorchLines, PrefixesOfAllVersions) {
  const auto prefix = [](const std::string& line) {
    std::string text;
    each_record(line, [&](const Record& record, const Speaker&) {
      const TorchPrefix p = torch_prefix(record);
      text = std::string(1, p.severity) + " " + std::to_string(p.global_rank) + " " +
             std::to_string(p.group_rank) + " " + std::to_string(p.pg_id) + " '" +
             std::string(p.pg_guid) + "' '" + std::string(p.pg_desc) + "' " + std::string(p.file) +
             " | " + std::string(record.text());
    });
    return text;
  };
  EXPECT_EQ(prefix("[E ProcessGroupNCCL.cpp:475] [Rank 3] Watchdog x"),
            "E -1 3 -1 '' '' ProcessGroupNCCL.cpp | Watchdog x");
  EXPECT_EQ(prefix("[rank3]:[E ProcessGroupNCCL.cpp:563] [PG 0 Rank 3] y"),
            "E 3 3 0 '' '' ProcessGroupNCCL.cpp | y");
  EXPECT_EQ(
      prefix("[rank3]:[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:607] [PG 4 (tp) Rank 1] z"),
      "E 3 1 4 '' 'tp' ProcessGroupNCCL.cpp | z");
  EXPECT_EQ(prefix("[rank3]:[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:2271] [PG ID 4 PG GUID "
                   "11(tp) Rank 1]  failure"),
            "E 3 1 4 '11' 'tp' ProcessGroupNCCL.cpp | failure");
  EXPECT_EQ(prefix("E0301 10:20:30.123456 77 ProcessGroupNCCL.cpp:21] text"),
            "E -1 -1 -1 '' '' ProcessGroupNCCL.cpp | text");
}

TEST(TorchLines, PartsOfTheirTexts) {
  const TorchWork work = parse_work(
      "WorkNCCL(SeqNum=812, OpType=_ALLGATHER_BASE, NumelIn=10, NumelOut=80, Timeout(ms)=600000)");
  EXPECT_EQ(work.sequence, 812);
  EXPECT_EQ(work.operation, "_ALLGATHER_BASE");
  EXPECT_EQ(work.numel_out, 80);
  EXPECT_EQ(work.timeout_ms, 600000);
  EXPECT_EQ(
      parse_work("WorkNCCL(OpType=BROADCAST, TensorShape=[1, 2], Timeout(ms)=1)").tensor_shape,
      "1, 2");
  EXPECT_EQ(parse_rank_list("[0, 1, 5-7]"), (std::vector<std::int32_t>{0, 1, 5, 6, 7}));
  // A short line may name a million ranks, but not a thousand times.
  std::string runs;
  for (int i = 0; i < 40; ++i) runs += "0-1000000,";
  EXPECT_EQ(parse_rank_list(runs).size(), std::size_t{1} << 20);
  EXPECT_EQ(value_of_key("size: 8, global rank: 3, TIMEOUT(ms): 600000", "global rank"), "3");
  EXPECT_EQ(value_of_key("size: 8", "rank"), "");
}

TEST(Speakers, AreReadFromFileNames) {
  EXPECT_EQ(speaker_of_file("logs/rank_12.log").launcher_rank, 12);
  EXPECT_EQ(speaker_of_file("run/attempt_0/3/stderr.log").local_rank, 3);
  EXPECT_EQ(speaker_of_file("nccl.n01.4711.log").host, "n01");
  EXPECT_EQ(speaker_of_file("nccl.n01.4711").pid, 4711);
  EXPECT_EQ(speaker_of_file("train.log").pid, -1);
}

}  // namespace
}  // namespace ringside::logs
