#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "diag/audit/audit.h"

// A folder with the logs of several jobs.

namespace ringside::audit {
namespace {

namespace fs = std::filesystem;

std::string rank_of_job(int rank, int nranks, const std::string& host, const std::string& comm_id) {
  const std::string who =
      fmt::format("{}:{}:{} [{}] NCCL INFO ", host, 4'000 + rank, 4'100 + rank, rank % 2);
  const std::string comm = fmt::format(
      "ncclCommInitRank comm 0x55a{} rank {} nranks {} cudaDev {} nvmlDev {} busId {}000 "
      "commId 0x{} - Init ",
      rank, rank, nranks, rank % 2, rank % 2, rank % 2 == 0 ? "1b" : "5d", comm_id);
  return who + "NCCL version 2.21.5+cuda12.4\n" + who + comm + "START\n" + who + comm +
         "COMPLETE\n";
}

class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() /
              fmt::format("ringside-audit-jobs-{}-{}", getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] Result<Audit> audited() const { return audit_logs({path_.string()}, {}); }

 private:
  fs::path path_;
};

TEST(AuditJobs, LogsOfSeveralJobsAreRefused) {
  const Folder folder;
  for (const char* job : {"a", "b", "c"}) {
    folder.write(fmt::format("{}.log", job),
                 rank_of_job(0, 2, fmt::format("n-{}", job), fmt::format("{}11", job)) +
                     rank_of_job(1, 2, fmt::format("n-{}", job), fmt::format("{}11", job)));
  }
  const auto audit = folder.audited();
  ASSERT_FALSE(audit);
  EXPECT_THAT(audit.error().message, testing::HasSubstr("3 jobs"));
  EXPECT_THAT(audit.error().help, testing::HasSubstr("a.log"));
}

TEST(AuditJobs, FilesOfOneJobAreOne) {
  const Folder folder;
  folder.write("rank0.log", rank_of_job(0, 2, "n1", "abc"));
  folder.write("rank1.log", rank_of_job(1, 2, "n2", "abc"));
  const auto audit = folder.audited();
  ASSERT_TRUE(audit);
  ASSERT_NE(audit->facts.world(), nullptr);
  EXPECT_EQ(audit->facts.world()->nranks, 2);
}

// Tensor-parallel groups within hosts are whole in their files; the group of all ranks joins these.
TEST(AuditJobs, GroupsWithinHostsAreNotSeparateJobs) {
  const Folder folder;
  folder.write("n1.log", rank_of_job(0, 4, "n1", "abc") + rank_of_job(1, 4, "n1", "abc") +
                             rank_of_job(0, 2, "n1", "de1") + rank_of_job(1, 2, "n1", "de1"));
  folder.write("n2.log", rank_of_job(2, 4, "n2", "abc") + rank_of_job(3, 4, "n2", "abc") +
                             rank_of_job(0, 2, "n2", "de2") + rank_of_job(1, 2, "n2", "de2"));
  EXPECT_TRUE(folder.audited());
}

}  // namespace
}  // namespace ringside::audit
