#include "engine/topology/sources/description_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

namespace ringside {
namespace {

using testing::HasSubstr;

TEST(DescriptionFile, IsItsTextWithoutAByteOrderMark) {
  const std::string path =
      testing::TempDir() + "description_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << "\xef\xbb\xbf"
                         "ringside: host/1\n";
  const auto text = read_description(path);
  std::remove(path.c_str());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "ringside: host/1\n");
}

TEST(DescriptionFile, RefusesAnEndlessFile) {
  const auto zeros = read_description("/dev/zero");
  ASSERT_FALSE(zeros);
  EXPECT_EQ(zeros.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(zeros.error().message, HasSubstr("/dev/zero: more than 16MiB"));
}

TEST(DescriptionFile, ReadsAPipeToItsEnd) {
  const std::string path = testing::TempDir() + "description_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::jthread writer([&path] { std::ofstream(path) << std::string(100'000, 'x'); });
  const auto text = read_description(path);
  std::remove(path.c_str());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, std::string(100'000, 'x'));
}

TEST(DescriptionFile, NamesTheActualFormat) {
  const auto folder = read_description(testing::TempDir());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is a folder"));
  const auto nothing = read_description("/nonexistent/c.yaml");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace ringside
