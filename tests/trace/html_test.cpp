#include "trace/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/trace/small_trace.h"

namespace ringside {
namespace {

std::string page_of(std::span<const TraceEvent> events, const std::string& title) {
  FileBytes bytes = file_header();
  while (!events.empty()) {
    const std::size_t count = std::min<std::size_t>(events.size(), 4096);
    append_bytes(bytes, events_block(events.first(count)));
    events = events.subspan(count);
  }
  std::ostringstream out;
  const auto counts = export_html(*TraceFile::parse(bytes, "memory"), title, out);
  EXPECT_TRUE(counts);
  EXPECT_EQ(counts->bytes, out.str().size());
  return out.str();
}

TEST(Html, LoadsNothingFromOtherFiles) {
  const std::string page = page_of(late_all_reduce(), "a trace");
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("/*WORDS*/"), std::string::npos);
  EXPECT_THAT(page, testing::HasSubstr("\"title\":\"a trace\""));
}

TEST(Html, ATitleCannotEndTheScript) {
  const std::string page = page_of({}, "</script><b>");
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_THAT(page, testing::HasSubstr("\\u003c/script>\\u003cb>"));
}

// HTML, "script data double escaped state": behind both of them </script> no longer ends a script.
TEST(Html, ATitleCannotHideTheScriptsEnd) {
  const std::string page = page_of({}, "<!--<script>");
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_THAT(page, testing::HasSubstr("\\u003c!--\\u003cscript>"));
}

// The page names calls that never ended by the time that the file states, from the first event on.
TEST(Html, CallsThatNeverEndedAreKnownByTheirEnd) {
  std::vector<TraceEvent> events = late_all_reduce();
  for (TraceEvent& event : events) {
    event.begin_ns += 5'000;
    event.end_ns += 5'000;
  }
  TraceInfo info;
  info.values = {{kNeverEnded, "105000"}};
  FileBytes bytes = file_header();
  append_bytes(bytes, info_block(info));
  append_bytes(bytes, events_block(events));
  std::ostringstream out;
  EXPECT_TRUE(export_html(*TraceFile::parse(bytes, "memory"), "hung", out));
  EXPECT_THAT(out.str(), testing::HasSubstr("\"stuck\":100000}"));
  EXPECT_THAT(page_of(events, "fine"), testing::HasSubstr("\"stuck\":null}"));
}

// Names and kinds of the groups, and one event more for the kernels.
TEST(Html, GroupsAndKernelsAreInThePage) {
  std::vector<TraceEvent> events = late_all_reduce();
  TraceEvent compute;
  compute.kind = EventKind::Compute;
  compute.channel = kComputeChannel;
  compute.end_ns = 50'000;
  events.push_back(compute);
  TraceInfo info;
  info.values = {{kTraceGroups, "world; tensor [0]"}};
  FileBytes bytes = file_header();
  append_bytes(bytes, info_block(info));
  append_bytes(bytes, events_block(events));
  std::ostringstream out;
  const auto counts = export_html(*TraceFile::parse(bytes, "memory"), "groups", out);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->events, events.size());
  EXPECT_THAT(
      out.str(),
      testing::HasSubstr(R"("groups":[["world","world"],["tensor [0]","tensor"],)"
                         R"(["world, transfers","world"],["tensor [0], transfers","tensor"]])"));
  EXPECT_THAT(out.str(), testing::HasSubstr("\"computeChannel\":65535"));
}

TEST(Html, AHundredThousandEventsTakeLessThanThreeMegabytes) {
  std::vector<TraceEvent> events;
  for (int i = 0; i < 100'000; ++i) {
    TraceEvent event;
    event.rank = i % 64;
    event.channel = static_cast<std::uint16_t>(i / 64 % 16);
    event.begin_ns = 1'700'000'000'000'000'000 + i * 977;
    event.end_ns = event.begin_ns + 123'457 + i % 1000;
    event.step = static_cast<std::uint32_t>(i / 1024);
    event.sequence = event.step / 10;
    event.offset = static_cast<std::uint64_t>(i) * 7919 * 4096 % (1U << 30);
    event.bytes = 524'288;
    event.primitive = Primitive::RecvReduceSend;
    event.recv_peer = (event.rank + 63) % 64;
    event.send_peer = (event.rank + 1) % 64;
    events.push_back(event);
  }
  const std::size_t size = page_of(events, "many").size();
  EXPECT_LT(size, 3'000'000U);
  EXPECT_GT(size, 1'000'000U);
}

}  // namespace
}  // namespace ringside
