#include "study/interchange/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/hangs/generate.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"
#include "study/interchange/chakra_export.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;
using hangs::Step;
using testing::Contains;
using testing::HasSubstr;

/// A folder that is removed with the object.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(testing::TempDir() + "interchange_" + std::to_string(::getpid()) + "_" + name) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::int64_t calls(const hangs::Program& program) {
  std::int64_t sum = 0;
  for (const hangs::RankProgram& own : program.programs) {
    sum += own.iterations * std::ranges::count(own.body, Step::Kind::Call, &Step::kind);
  }
  return sum;
}

// Dumps of a job that finished hold all its calls.
TEST(Import, DumpsOfAFinishedJobAreItsCalls) {
  const auto original = parse_scenario(
      "ringside: scenario/1\nname: d\nparallel: {tensor: 2, data: 2}\niterations: 3\nsteps:\n"
      "- all_reduce: {on: tensor, count: 64, type: bfloat16}\n- transfer: {on: data, from: 0, to: "
      "1, "
      "count: 5}\n- reduce_scatter: {on: data, count: 10}\n- all_to_all: {on: world, count: 8}\n",
      "d.yaml");
  ASSERT_TRUE(original);
  hangs::Program program = hangs::make_program(original->outline);
  const std::int64_t made = calls(program);
  hangs::Play play = hangs::play(program, {}, 1, {.call = {}, .is_even = true});
  const Folder folder("dumps");
  fs::remove_all(folder.path());
  ASSERT_TRUE(hangs::write_evidence(hangs::kept_case("d", std::move(program), std::move(play)),
                                    folder.path()));
  const auto imported = import_scenario({folder.path()});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->format, "dumps and logs");
  EXPECT_THAT(imported->unknown, Contains(HasSubstr("computed between")));
  const hangs::Program back = hangs::make_program(imported->scenario.outline);
  EXPECT_EQ(calls(back), made);
  EXPECT_FALSE(hangs::play(back, {}, 1, {.call = {}, .is_even = true}).is_hung());
  // All ranks did the same, so there is one step for all of them, not one per rank.
  EXPECT_EQ(imported->scenario.outline.steps.size(), 4U * 3 + 1);
}

std::string nccl_line(int rank, const std::string& text) {
  return fmt::format("node-0:{0}:{0} [{1}] NCCL INFO {2}\n", 4200 + rank, rank, text);
}

// PyTorch makes an all-to-all of sends and receives, which is what NCCL logs.
TEST(Import, LinesOfCallsAreCalls) {
  std::string log;
  for (int rank = 0; rank < 2; ++rank) {
    log += nccl_line(rank, fmt::format("ncclCommInitRank comm 0xa{} rank {} nranks 2 cudaDev 0 "
                                       "nvmlDev 0 busId 18000 commId 0x5eed - Init COMPLETE",
                                       rank, rank));
    const auto call = [&](const char* function, int count, int root) {
      log +=
          nccl_line(rank, fmt::format("{}: opCount 1 sendbuff 0x7f00 recvbuff 0x7f00 count {} "
                                      "datatype 9 op 0 root {} comm 0xa{} [nranks=2] stream 0x66",
                                      function, count, root, rank));
    };
    call("AllReduce", 64, 0);
    for (int peer = 0; peer < 2; ++peer) {
      call("Send", 100, peer);
      call("Recv", 100, peer);
    }
    call("Broadcast", 7, 1);
  }
  const Folder folder("log");
  folder.write("job.log", log);
  const auto imported = import_scenario({folder.path()});
  ASSERT_TRUE(imported) << imported.error().message;
  const auto& steps = imported->scenario.outline.steps;
  ASSERT_GE(steps.size(), 3U);
  EXPECT_EQ(steps[0].op, hangs::Op::AllReduce);
  EXPECT_EQ(steps[0].type, DataType::Bfloat16);
  EXPECT_EQ(steps[1].op, hangs::Op::AllToAll);
  EXPECT_EQ(steps[1].count, 200);
  EXPECT_EQ(steps[2].op, hangs::Op::Broadcast);
  EXPECT_EQ(steps[2].from, 1);
}

TEST(Import, FormatsAreRecognisedByContent) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: f\nranks: 2\nsteps:\n- all_reduce: {on: world, count: 4}\n",
      "f.yaml");
  ASSERT_TRUE(scenario);
  const Folder folder("chakra");
  ASSERT_TRUE(export_chakra(hangs::make_program(scenario->outline),
                            [&](const std::string& name, const std::string& bytes) -> Status {
                              folder.write(name, bytes);
                              return {};
                            }));
  auto imported = import_scenario({folder.path()});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->format, "Chakra execution traces");
  const Folder other("profiler");
  other.write("rank0.json",
              R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "nccl", "ts": 1,
    "dur": 2, "args": {"Collective name": "allreduce", "Group size": 2, "dtype": "Float",
    "In msg nelems": 8, "Process Group Ranks": "[0, 1]"}}]})");
  imported = import_scenario({other.path() + "/rank0.json"});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->format, "PyTorch's profiler");
  EXPECT_EQ(imported->scenario.outline.ranks, 2);
}

TEST(Import, FilesWithoutCallsAreRefused) {
  const Folder folder("nothing");
  folder.write("a.log", "hello\n");
  const auto imported = import_scenario({folder.path()});
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().help, HasSubstr("COLL"));
  EXPECT_EQ(import_scenario({folder.path() + "/none"}).error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace ringside::study
