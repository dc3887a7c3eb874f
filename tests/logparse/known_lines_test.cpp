#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "diag/logparse/call_records.h"
#include "diag/logparse/match_lines.h"
#include "tests/logparse/records.h"

namespace ringside::logs {
namespace {

// Uses more threads and more texts than can be known at once, and prefixes with the same end: each line keeps its own
// text.
void expect_that_each_line_says_what_it_says() {
  struct Said {
    int pid = 0;
    std::string host;
    std::uint64_t bytes = 0;
  };
  std::mt19937 random(5);
  std::vector<Said> said;
  std::string text;
  for (int i = 0; i < 30'000; ++i) {
    const int pid = 10'000 + static_cast<int>(random() % 12'000);
    const std::string host = random() % 2 == 0 ? "east-node17" : "west-node17";
    // The first texts all fit the memory of known lines; later ones do not.
    const std::uint64_t bytes = 1'000'000 + random() % (i < 15'000 ? 900 : 3'000);
    const std::string process = std::to_string(pid);
    text += host + ":" + process + ":" + process + " [0] NCCL INFO " + std::to_string(bytes) +
            " Bytes -> Algo 1 proto 2 time 45.5\n";
    said.push_back({pid, host, bytes});
  }
  std::size_t at = 0;
  std::size_t wrong = 0;
  each_record(text, [&](const Record& record, const Speaker& speaker) {
    const Said& wanted = said[at++];
    const bool is_right = record.kind == RecordKind::TuningChoice && record.tid == wanted.pid &&
                          record.as<TuningChoice>().bytes == wanted.bytes &&
                          speaker.pid == wanted.pid && speaker.host == wanted.host;
    if (!is_right) ++wrong;
  });
  EXPECT_EQ(at, said.size());
  EXPECT_EQ(wrong, 0U);
}

// Each instruction set has code of its own.
TEST(KnownLines, AreTheSameInEveryInstructionSetOfThisMachine) {
  with_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    expect_that_each_line_says_what_it_says();
  });
}

}  // namespace
}  // namespace ringside::logs
