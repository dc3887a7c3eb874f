#include "harness/attach/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/fd.h"
#include "base/temporary.h"

namespace ringside::attach {
namespace {

using testing::HasSubstr;

constexpr auto kPlenty = std::chrono::seconds(20);

TEST(Process, ItsStateAndVariablesAreReadFromProc) {
  const auto folder = TemporaryFolder::make("proc-test");
  ASSERT_TRUE(folder);
  std::filesystem::create_directory(folder->path() + "/71");
  std::ofstream(folder->path() + "/71/stat") << "71 (py) thon) T 1 71 71";
  std::ofstream(folder->path() + "/71/cmdline") << std::string("python\0train.py\0", 16);
  std::ofstream(folder->path() + "/71/environ")
      << std::string("RANK=3\0TORCH_WORKER_SERVER_SOCKET=/tmp/w\0=odd\0noise\0", 52);
  const auto facts = read_process(71, folder->path());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->state, 'T');
  EXPECT_EQ(facts->program, "python");
  EXPECT_EQ(facts->variables.at("TORCH_WORKER_SERVER_SOCKET"), "/tmp/w");
  EXPECT_FALSE(read_process(72, folder->path()));
  EXPECT_FALSE(read_process(-1));
}

TEST(Process, AStackComesFromATool) {
  const auto stack = stack_of(::getpid(), deadline_in(std::chrono::seconds(60)));
  if (!stack) GTEST_SKIP() << "needs py-spy or gdb, and ptrace: " << stack.error().message;
  EXPECT_THAT(stack->text, HasSubstr("Process "));
  EXPECT_THAT(stack->text, HasSubstr("Thread "));
}

TEST(Process, PythonsFramesOfGdbBecomeThoseOfPySpy) {
  const std::string gdb =
      "48\t../sysdeps/unix/sysv/linux/clock_nanosleep.c: No such file or directory.\n"
      "Traceback (most recent call first):\n"
      "  <built-in method sleep of module object at remote 0x7f0f83ebb3d0>\n"
      "  File \"/srv/my \\\"job\\\"/train.py\", line 7, in load_batch\n"
      "    time.sleep(1)\n"
      "  File \"/srv/train.py\", line 21, in <module>\n"
      "    train(\"x, line 3, in y\")\n"
      "\nThread 1 (Thread 0x7f0f83f6a040 (LWP 71) \"python3\"):\n#0  0x1 in f ()\n";
  EXPECT_EQ(python_stack_in(gdb, 71),
            "Process 71:\nThread 71 (active): \"MainThread\"\n"
            "    load_batch (/srv/my \\\"job\\\"/train.py:7)\n    <module> (/srv/train.py:21)\n");
  EXPECT_EQ(python_stack_in("Undefined command: \"py-bt\".\n", 71), "");
  EXPECT_EQ(python_stack_in("Traceback (most recent call first):\n  File \"", 71), "");
  EXPECT_EQ(python_stack_in("Traceback (most recent call first):", 71), "");
}

// gdb would let it run: what is stopped stays stopped.
TEST(Process, GdbDoesNotTouchAStoppedProcess) {
  const auto folder = TemporaryFolder::make("no-tools");
  ASSERT_TRUE(folder);
  const std::string gdb = folder->path() + "/gdb";
  std::ofstream(gdb) << "#!/bin/sh\ntouch " << folder->path() << "/was-called\n";
  ASSERT_EQ(::chmod(gdb.c_str(), 0755), 0);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder->path().c_str(), 1);
  const auto stack = stack_of(::getpid(), deadline_in(kPlenty), true);
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(stack);
  EXPECT_THAT(stack.error().message, HasSubstr("stopped"));
  EXPECT_FALSE(std::filesystem::exists(folder->path() + "/was-called"));
}

TEST(Process, AToolThatHangsIsEnded) {
  const auto folder = TemporaryFolder::make("tool-test");
  ASSERT_TRUE(folder);
  const std::string tool = folder->path() + "/py-spy";
  std::ofstream(tool) << "#!/bin/sh\nexec sleep 60\n";
  ASSERT_EQ(::chmod(tool.c_str(), 0755), 0);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder->path() + ":" + path).c_str(), 1);
  const auto began = std::chrono::steady_clock::now();
  const auto stack = stack_of(::getpid(), deadline_in(std::chrono::milliseconds(300)));
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(stack);
  EXPECT_EQ(stack.error().code, ErrorCode::Timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

/// A process with a pipe and a path for dumps, in a test's folder.
class Pipe : public testing::Test {
 protected:
  Pipe() {
    process_.folder = folder_.path();
    std::filesystem::create_directories(folder_.path() + "/root/tmp");
    process_.variables = {{"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", "/tmp/pipe_"},
                          {"TORCH_FR_DUMP_TEMP_FILE", "/tmp/dump_"}};
  }
  const TemporaryFolder folder_ = *TemporaryFolder::make("pipe-test");
  ProcessFacts process_;
};

TEST_F(Pipe, AByteMakesTheProcessWriteItsDump) {
  const std::string pipe = folder_.path() + "/root/tmp/pipe_3.pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // The descriptor is for both ends, so that opening it does not wait.
  const UniqueFd both(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  std::jthread writer([&] {
    char byte = 0;
    ASSERT_EQ(::read(both.get(), &byte, 1), 1);
    std::ofstream(folder_.path() + "/root/tmp/dump_3") << "a dump";
  });
  const auto dump = dump_by_pipe(process_, 3, deadline_in(kPlenty));
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(*dump, "a dump");
}

TEST_F(Pipe, AFileInThePlaceOfThePipeIsNotWritten) {
  const std::string victim = folder_.path() + "/root/tmp/pipe_3.pipe";
  std::ofstream(victim) << "precious";
  EXPECT_FALSE(dump_by_pipe(process_, 3, deadline_in(kPlenty)));
  EXPECT_EQ(*read_file(victim), "precious");
}

TEST_F(Pipe, AProcessWithoutOneIsNotAsked) {
  const auto dump = dump_by_pipe({}, 3, deadline_in(kPlenty));
  ASSERT_FALSE(dump);
  EXPECT_EQ(dump.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace ringside::attach
