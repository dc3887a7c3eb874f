#include "engine/runtime/bootstrap/file_hand_out.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "engine/transport/socket/acceptor.h"
#include "engine/transport/socket/file_passing.h"
#include "tests/runtime/ranks.h"

namespace ringside {
namespace {

constexpr int kRanks = 3;

std::ptrdiff_t open_files() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

UniqueFd memory_with(char letter) {
  UniqueFd memory(::memfd_create("ringside-test", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(memory.get(), &letter, 1, 0), 1);
  return memory;
}

char letter_in(const UniqueFd& file) {
  char letter = 0;
  EXPECT_EQ(::pread(file.get(), &letter, 1, 0), 1);
  return letter;
}

TEST(FileHandOut, EveryOtherRankGetsTheFileAndNoRankKeepsASocket) {
  const auto root = make_root(kRanks);
  const AbstractName at = fresh_name("test");
  std::array<char, kRanks> letters{};
  std::array<std::ptrdiff_t, 2> open{};
  run_ranks(first_ranks(kRanks), [&](int rank) {
    const auto bootstrap = must_join(rank, kRanks, root->id());
    ASSERT_TRUE(bootstrap->barrier());
    if (rank == 0) open[0] = open_files();
    ASSERT_TRUE(bootstrap->barrier());
    UniqueFd file;
    if (rank == 0) {
      file = memory_with('m');
      ASSERT_TRUE(hand_out_file(file.get(), at, kRanks - 1, *bootstrap, deadline_in(kPlenty)));
    } else {
      auto fetched = fetch_file(at, *bootstrap, deadline_in(kPlenty));
      ASSERT_TRUE(fetched) << fetched.error().message;
      file = *std::move(fetched);
    }
    letters.at(static_cast<std::size_t>(rank)) = letter_in(file);
    file.reset();
    ASSERT_TRUE(bootstrap->barrier());
    if (rank == 0) open[1] = open_files();
    ASSERT_TRUE(bootstrap->barrier());
  });
  EXPECT_EQ(std::string(letters.data(), letters.size()), "mmm");
  EXPECT_EQ(open[0], open[1]);
}

// A client without the job's secret may find the name, and receives no file.
TEST(FileHandOut, AnUnknownClientGetsNothingAndTheRankItsFile) {
  constexpr int kTwo = 2;
  const auto root = make_root(kTwo);
  const AbstractName at = fresh_name("test");
  run_ranks(first_ranks(kTwo), [&](int rank) {
    const auto bootstrap = must_join(rank, kTwo, root->id());
    if (rank == 0) {
      const UniqueFd file = memory_with('m');
      ASSERT_TRUE(hand_out_file(file.get(), at, 1, *bootstrap, deadline_in(kPlenty)));
      return;
    }
    const auto refused = connect_authenticated(at, random_secret(), {}, deadline_in(kPlenty));
    EXPECT_FALSE(refused);
    const auto fetched = fetch_file(at, *bootstrap, deadline_in(kPlenty));
    ASSERT_TRUE(fetched) << fetched.error().message;
    EXPECT_EQ(letter_in(*fetched), 'm');
  });
}

TEST(FileHandOut, APeerThatDoesNotComeIsATimeOutOnBothSides) {
  const auto root = make_root(1);
  const auto bootstrap = must_join(0, 1, root->id());
  const UniqueFd file = memory_with('m');
  const auto before = open_files();
  const auto soon = [] { return deadline_in(std::chrono::milliseconds(1)); };
  const AbstractName at = fresh_name("test");
  const Status handed = hand_out_file(file.get(), at, 1, *bootstrap, soon());
  ASSERT_FALSE(handed);
  EXPECT_EQ(handed.error().code, ErrorCode::Timeout);
  const auto fetched = fetch_file(at, *bootstrap, soon());
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::Timeout);
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace ringside
