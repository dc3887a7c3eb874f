#include "engine/flight/dump_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fd.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class DumpFile : public testing::Test {
 protected:
  DumpFile() {
    fs::create_directories(folder_ + "/spare");
    settings_.prefix = folder_ + "/trace_rank_";
    settings_.is_json = true;
    FlightDump::Call& call = dump_.calls.emplace_back();
    call.profiling_name = "nccl:all_reduce";
    call.input = call.output = {4};
    dump_.groups.push_back({0, "0", "quoted \"desc\"", {0, 1}});
    for (int i = 0; i < 100; ++i) dump_.entries.emplace_back().call = &call;
  }
  ~DumpFile() override { fs::remove_all(folder_); }

  [[nodiscard]] int files_in(const std::string& folder) const {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder))
      files += entry.is_regular_file() ? 1 : 0;
    return files;
  }

  const std::string folder_ =
      testing::TempDir() + "ringside_dump_file_" + std::to_string(::getpid());
  FlightSettings settings_;
  FlightDump dump_;
};

TEST_F(DumpFile, IsWrittenCompletelyUnderItsPrefixAndRank) {
  const auto path = write_dump(dump_, settings_, 3, folder_ + "/spare");
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(*path, folder_ + "/trace_rank_3.json");
  const auto read = nlohmann::json::parse(*read_file(*path));
  EXPECT_EQ(read["entries"].size(), 100U);
  EXPECT_EQ(read["pg_config"]["0"]["desc"], "quoted \"desc\"");
  EXPECT_EQ(files_in(folder_), 1);
}

// PyTorch's keys are in alphabetical order.
TEST_F(DumpFile, HasTheStatusOfGroupsInTheOrderOfTheirNumbersAsText) {
  for (int group = 0; group < 12; ++group) {
    dump_.status.push_back({.pg_id = group, .enqueued = 1, .started = 1, .completed = 1});
  }
  std::string text;
  append_json(dump_, text);
  const std::size_t ten = text.find("\"10\":{\"last_completed");
  const std::size_t two = text.find("\"2\":{\"last_completed");
  ASSERT_NE(ten, std::string::npos);
  ASSERT_NE(two, std::string::npos);
  EXPECT_LT(ten, two);
}

// A dump is written to another file before it gets its name. In a folder that all users share, an attacker who guesses
// that file's name makes it a link to a file that only this user can write.
TEST_F(DumpFile, DoesNotFollowAPlantedLink) {
  const std::string victim = folder_ + "/spare/victim";
  std::ofstream(victim) << "precious";
  for (const std::string& name : {std::string(), fmt::format(".{}.part", ::getpid())}) {
    fs::create_symlink(victim, folder_ + "/trace_rank_3.json" + name);
  }
  const auto path = write_dump(dump_, settings_, 3, folder_ + "/spare");
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(nlohmann::json::accept(*read_file(*path)));
  EXPECT_FALSE(fs::is_symlink(*path));
  EXPECT_EQ(*read_file(victim), "precious");
}

// A limit on the size of files stops a write as a full disk does, in the middle.
TEST_F(DumpFile, AFullDiskLeavesNoPartAndTheDumpGoesToTheSpareFolder) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto nowhere = write_dump(dump_, settings_, 3, folder_ + "/spare");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::System);
  EXPECT_EQ(files_in(folder_), 0);
  EXPECT_EQ(files_in(folder_ + "/spare"), 0);

  settings_.prefix = folder_ + "/is/not/there_";
  const auto spare = write_dump(dump_, settings_, 3, folder_ + "/spare");
  ASSERT_TRUE(spare);
  EXPECT_EQ(*spare, folder_ + "/spare/there_3.json");
  EXPECT_TRUE(nlohmann::json::accept(*read_file(*spare)));
}

}  // namespace
}  // namespace ringside
