#include "diag/job/job_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diag/logparse/parse_logs.h"

namespace ringside::job {
namespace {

using namespace logs;  // records are what it is asked about

class Answers : public RecordSink {
 public:
  explicit Answers(const std::string& text) { parse_text(text, *this); }
  void take(std::span<const Record> records, const SpeakerTable&) override {
    for (const Record& record : records) is_of_job_ = is_of_job_ || is_of_job(record);
  }
  [[nodiscard]] bool are_of_job() const { return is_of_job_; }

 private:
  bool is_of_job_ = false;
};

TEST(JobWords, OtherProgramsUseTheWordsOfAJob) {
  for (const std::string text :
       {"2025/03/02 11:20:41 [alert] 29#29: accept4() failed (24: Too many open files)",
        "java.net.SocketException: Too many open files",
        "[81223.511] Out of memory: Killed process 4211 (chrome) total-vm:11kB",
        "checkout-web-6b8f9d7c-x2x9p   0/1     OOMKilled   4          12m",
        "./convert.sh: line 12:  9911 Segmentation fault      (core dumped) ffmpeg -i in.mkv",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=redis-server,pid=41,uid=0"}) {
    EXPECT_FALSE(Answers(text + "\n").are_of_job()) << text;
  }
}

TEST(JobWords, LinesOfTheStackOrOfJobProgramsShowAJob) {
  for (const std::string text :
       {"n01:77:78 [0] NCCL INFO anything at all", "srun: error: n01: task 3: Killed",
        "[81223.511] Out of memory: Killed process 4211 (pt_main_thread) total-vm:11kB",
        "run.sh: line 7: 4711 Segmentation fault      (core dumped) python train.py",
        "OSError: [Errno 24] Too many open files",
        "trainer-3   0/1     OOMKilled   0          12m"}) {
    EXPECT_TRUE(Answers(text + "\n").are_of_job()) << text;
  }
}

TEST(JobWords, ABrowserOrAServerIsNotARank) {
  EXPECT_TRUE(is_other_program("chrome"));
  EXPECT_TRUE(is_other_program("nginx"));
  EXPECT_FALSE(is_other_program("python3"));
  EXPECT_FALSE(is_other_program("pt_main_thread"));
}

TEST(JobWords, AServersWorkerHasItsRankInItsName) {
  EXPECT_EQ(rank_in_process_name("VLLM::Worker_TP1"), 1);
  EXPECT_EQ(rank_in_process_name("sglang::scheduler_TP12"), 12);
  EXPECT_EQ(rank_in_process_name("VLLM::Worker_PP0_TP1"), -1);  // of its stage
  EXPECT_EQ(rank_in_process_name("VLLM::EngineCore_DP1_TP0"), -1);
  EXPECT_EQ(rank_in_process_name("HTTP2"), -1);
  EXPECT_EQ(rank_in_process_name("python3"), -1);
}

}  // namespace
}  // namespace ringside::job
