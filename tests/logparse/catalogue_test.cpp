#include <gtest/gtest.h>

#include <algorithm>

#include "diag/logparse/message.h"
#include "tests/logparse/records.h"

namespace ringside::logs {
namespace {

/// Expects that the first record of a text is this pattern's message.
void expect_pattern(const std::string& line, const MessagePattern& pattern, std::size_t index) {
  bool is_first = true;
  each_record(line, [&](const Record& record, const Speaker&) {
    if (!is_first) return;
    is_first = false;
    ASSERT_EQ(record.kind, RecordKind::Message) << to_string(record.kind) << ": " << line;
    EXPECT_EQ(facts_of(record.as<Message>().id).name, facts_of(pattern.id).name) << line;
    EXPECT_EQ(record.as<Message>().pattern, index)
        << line << "\n  " << pattern.pattern << "\n  is taken by\n  "
        << message_patterns()[record.as<Message>().pattern].pattern;
  });
  EXPECT_FALSE(is_first) << "nothing in: " << line;
}

TEST(Catalogue, EachSampleIsMatchedByItsOwnPatternFirst) {
  const auto patterns = message_patterns();
  ASSERT_GT(patterns.size(), 300U);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    expect_pattern(std::string(patterns[i].sample), patterns[i], i);
  }
}

TEST(Catalogue, WarningsAlsoMatchAfterNcclsPrefix) {
  const auto patterns = message_patterns();
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (facts_of(patterns[i].id).weight != 'F') continue;
    expect_pattern("n01:411:990 [7] misc/socket.cc:58 NCCL WARN " + std::string(patterns[i].sample),
                   patterns[i], i);
  }
}

TEST(Catalogue, HolesReturnTheirText) {
  each_record(
      "n01:1:2 [0] misc/socket.cc:58 NCCL WARN Net : Connect to 10.1.0.2<41000> failed : No route "
      "to host",
      [](const Record& record, const Speaker&) {
        ASSERT_TRUE(is_message(record, MessageId::SocketConnectFailed));
        EXPECT_EQ(message_argument(record, "address"), "10.1.0.2<41000>");
        EXPECT_EQ(message_argument(record, "error"), "No route to host");
        EXPECT_EQ(message_argument(record, "nothing"), "");
        EXPECT_EQ(location(record), "misc/socket.cc:58");
      });
  each_record(
      "n01:1:2 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer 10.1.0.2<4> "
      "with error 12, "
      "opcode 0, len 0, vendor err 129 (Recv)",
      [](const Record& record, const Speaker&) {
        ASSERT_TRUE(is_message(record, MessageId::IbCompletion));
        EXPECT_EQ(message_number(record, "status"), 12);
        EXPECT_EQ(message_number(record, "vendor"), 129);
      });
}

TEST(Catalogue, ReadsTheLastWarningAfterABenchmarksError) {
  int found = 0;
  each_record(
      "n01: Test NCCL failure common.cu:1279 'remote process exited / NET/IB: Got completion from "
      "peer 10.0.0.2<1> with status=12 opcode=0 len=0 vendor err 129 (Recv)'",
      [&](const Record& record, const Speaker&) {
        ++found;
        EXPECT_TRUE(is_message(record, MessageId::IbCompletion));
        EXPECT_EQ(message_number(record, "status"), 12);
        EXPECT_EQ(message_argument(record, "peer"), "10.0.0.2<1>");
      });
  each_record("n01: Test NCCL failure common.cu:1012 'unhandled system error / '",
              [&](const Record& record, const Speaker&) {
                ++found;
                EXPECT_TRUE(is_message(record, MessageId::BenchmarkError));
              });
  EXPECT_EQ(found, 2);
}

TEST(Catalogue, EachMessageHasAPatternAndAMeaning) {
  const auto patterns = message_patterns();
  const auto last = std::max_element(patterns.begin(), patterns.end(),
                                     [](const auto& a, const auto& b) { return a.id < b.id; });
  for (std::uint16_t id = 0; id <= static_cast<std::uint16_t>(last->id); ++id) {
    const auto is_it = [id](const MessagePattern& row) { return row.id == MessageId{id}; };
    EXPECT_TRUE(std::any_of(patterns.begin(), patterns.end(), is_it))
        << facts_of(MessageId{id}).name;
    EXPECT_FALSE(facts_of(MessageId{id}).meaning.empty());
    EXPECT_NE(std::string_view("FDNI").find(facts_of(MessageId{id}).weight),
              std::string_view::npos);
  }
}

}  // namespace
}  // namespace ringside::logs
