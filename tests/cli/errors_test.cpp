#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/fd.h"
#include "tests/cli/program.h"
#include "tests/support/other_user.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

struct BadUsage {
  const char* name;
  std::vector<std::string> words;
  const char* said;  ///< text that stderr must contain
};

void PrintTo(const BadUsage& usage, std::ostream* out) { *out << usage.name; }

class BadUsageTest : public testing::TestWithParam<BadUsage> {};

TEST_P(BadUsageTest, ExitsWithTwoAndNamesTheFix) {
  const Outcome outcome = run_program(GetParam().words);
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_NE(outcome.err.find(GetParam().said), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("error: ", 0), 0U) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Words, BadUsageTest,
    testing::Values(
        BadUsage{"verb", {"bnech"}, "did you mean 'bench'?"},
        BadUsage{
            "option", {"bench", "all_reduce", "--trasport", "shm"}, "did you mean '--transport'?"},
        BadUsage{"option_with_value", {"sim", "all_reduce", "--node=2"}, "did you mean '--nodes'?"},
        BadUsage{"option_of_the_program", {"--versoin"}, "did you mean '--version'?"},
        BadUsage{"collective", {"bench", "allreduce"}, "did you mean 'all_reduce'?"},
        BadUsage{"no_collective", {"bench"}, "no collective given"},
        BadUsage{"collective_in_sim",
                 {"sim", "all_gatehr", "--on", "dgx-h100"},
                 "did you mean 'all_gather'?"},
        BadUsage{"preset", {"sim", "all_reduce", "--on", "dgx-h10"}, "did you mean 'dgx-h100'?"},
        BadUsage{"size", {"bench", "all_reduce", "-b", "64X"}, "unknown size suffix 'X'"},
        BadUsage{"size_in_sim",
                 {"sim", "all_reduce", "--on", "dgx-h100", "--bytes", "1M:2"},
                 "the first is larger"},
        BadUsage{"number", {"bench", "all_reduce", "-n", "four"}, "--ranks"},
        BadUsage{"no_ranks", {"bench", "all_reduce", "-n", "0"}, "-n"},
        BadUsage{
            "preset_by_its_gpu", {"sim", "all_reduce", "--on", "a100"}, "did you mean 'dgx-a100'?"},
        BadUsage{"preset_of_another_maker",
                 {"sim", "all_reduce", "--on", "dgx-h200"},
                 "did you mean 'hgx-h200'?"},
        BadUsage{"type", {"bench", "all_reduce", "-d", "flaot"}, "did you mean 'float'?"},
        BadUsage{
            "type_of_pytorch", {"bench", "all_reduce", "-d", "float16"}, "did you mean 'half'?"},
        BadUsage{"type_of_pytorch_in_sim",
                 {"sim", "all_reduce", "--on", "dgx-h100", "-d", "bf16"},
                 "did you mean 'bfloat16'?"},
        BadUsage{"verb_in_full", {"simulate"}, "did you mean 'sim'?"},
        BadUsage{"reduction", {"bench", "all_reduce", "-o", "agv"}, "did you mean 'avg'?"},
        BadUsage{"root",
                 {"bench", "broadcast", "-n", "2", "-r", "2", "-e", "8"},
                 "give a rank from 0 to 1"},
        BadUsage{
            "transport", {"bench", "all_reduce", "--transport", "roce"}, "known: shm, rdma, tcp"},
        BadUsage{"slot", {"bench", "all_reduce", "--slot", "3", "-e", "8"}, "slot"},
        BadUsage{"a_word_too_many", {"bench", "all_reduce", "now"}, "one word too many"},
        BadUsage{"a_word_too_many_below_a_verb",
                 {"trace", "export", "a", "b"},
                 "see ringside trace export --help"},
        BadUsage{"trace_word", {"trace", "inof", "x.rtrace"}, "did you mean 'info'?"},
        BadUsage{"trace_file", {"trace", "info", "/nonexistent.rtrace"}, "/nonexistent.rtrace"},
        BadUsage{"logs_of_topo",
                 {"topo", "--on", "dgx-h100", "--nccl", "2.21.5", "--logs", "/nonexistent"},
                 "ringside generate logs -o DIR"},
        BadUsage{"break_of_topo",
                 {"topo", "--on", "dgx-h100", "--break=gdr"},
                 "ringside generate logs --break NAME -o DIR"},
        BadUsage{"generate_of_hang",
                 {"hang", "--generate", "/nonexistent", "--cases", "3"},
                 "ringside generate hangs -o DIR"},
        BadUsage{"logs_without_a_folder", {"generate", "logs", "--on", "dgx-h100"}, "-o logs/"},
        BadUsage{"logs_without_a_job",
                 {"generate", "logs", "-o", "x"},
                 "see ringside generate logs --help"},
        BadUsage{
            "hangs_without_a_folder", {"generate", "hangs"}, "see ringside generate hangs --help"},
        BadUsage{"logs_of_no_version",
                 {"generate", "logs", "--on", "dgx-h100", "-o", "x", "--nccl", "2.99"},
                 "2.7 .. 2.32"},
        BadUsage{
            "hangs_of_no_ranks", {"generate", "hangs", "-o", "x", "--ranks", "0"}, "2 to 4096"},
        BadUsage{"hangs_of_no_records", {"generate", "hangs", "-o", "x", "--records", "0"}, "1 to"},
        BadUsage{"hangs_of_no_frames", {"generate", "hangs", "-o", "x", "--frames", "0"}, "6 to"},
        BadUsage{"logs_into_a_file",
                 {"generate", "logs", "--on", "one-gpu-one-nic", "-o", "/proc/version"},
                 "name a folder"},
        BadUsage{
            "hangs_into_a_file", {"generate", "hangs", "-o", "/proc/version"}, "name a folder"},
        BadUsage{"generate_word", {"generate", "log", "-o", "x"}, "did you mean 'logs'?"},
        BadUsage{"fault_with_varied_scenario",
                 {"run", "x.yaml", "--vary", "layout=auto", "--fault", "skip:rank=3,call=40"},
                 "write ranks and faults into the scenario"},
        BadUsage{"timeout_with_varied_scenario",
                 {"run", "x.yaml", "--vary", "layout=auto", "--timeout", "5"},
                 "--vary compares simulated times"},
        BadUsage{"negative_timeout_with_varied_scenario",
                 {"run", "x.yaml", "--vary", "layout=auto", "--timeout=-5"},
                 "give seconds, up to a day"},
        BadUsage{"varied_script",
                 {"run", "train.py", "--vary", "layout=auto"},
                 "--json, --on or --vary with a script"},
        BadUsage{"two_sources_of_hang",
                 {"hang", "/nonexistent", "--watch", "/nonexistent"},
                 "a folder or file and --watch at once"},
        BadUsage{"about_and_live_of_hang",
                 {"hang", "--about", "all", "--live", "28028"},
                 "--about and --live at once"},
        BadUsage{"two_answers_of_explain",
                 {"explain", "--presets", "--upgrades"},
                 "--presets, --upgrade and --upgrades are separate answers"},
        BadUsage{"page_as_json",
                 {"explain", "--presets", "--on", "dgx-h100", "--json"},
                 "--json with --presets, which is a Markdown page"},
        BadUsage{"not_a_trace", {"trace", "info", "/proc/version"}, "/proc/version"}),
    [](const auto& usage) { return std::string(usage.param.name); });

struct RunFailure {
  const char* name;
  std::vector<std::string> words;
  std::vector<std::string> variables;
  const char* said;
};

void PrintTo(const RunFailure& failure, std::ostream* out) { *out << failure.name; }

class RunFailureTest : public testing::TestWithParam<RunFailure> {};

TEST_P(RunFailureTest, ExitsWithThreeAndOneClearMessage) {
  const Outcome outcome = run_program(GetParam().words, GetParam().variables);
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_NE(outcome.err.find(GetParam().said), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("error: ", 0), 0U) << outcome.err;
  EXPECT_EQ(outcome.err.find("error: ", 1), std::string::npos) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(
    Causes, RunFailureTest,
    testing::Values(
        RunFailure{
            "interface", {"bench", "all_reduce", "-e", "8"}, {"NCCL_SOCKET_IFNAME=nope0"}, "nope0"},
        RunFailure{"trace_path",
                   {"bench", "all_reduce", "-e", "8", "--trace", "/nonexistent/t.rtrace"},
                   {},
                   "/nonexistent/t.rtrace"},
        RunFailure{"trace_path_in_sim",
                   {"sim", "all_reduce", "--on", "dgx-h100", "--bytes", "1M", "--trace",
                    "/nonexistent/t.rtrace"},
                   {},
                   "/nonexistent/t.rtrace"},
        RunFailure{"folder_that_cannot_be_made",
                   {"generate", "logs", "--on", "one-gpu-one-nic", "-o", "/proc/x"},
                   {},
                   "help:  name one"},
        RunFailure{
            "no_program_that_simulates",
            {"sim", "all_reduce", "--on", "dgx-h100", "--bytes", "1M", "--fidelity", "chunk"},
            {"RINGSIDE_SIMGRID=/tmp"},
            "RINGSIDE_SIMGRID has to name a program"},
        RunFailure{"a_rank_that_never_comes",
                   {"bench", "all_reduce", "-e", "8", "--timeout", "500ms"},
                   {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "MASTER_ADDR=127.0.0.1",
                    "MASTER_PORT=29617", "RINGSIDE_SECRET=of these tests"},
                   "rank 1 of 2 never came"},
        // 900 TiB are more than any host has, and more than can be mapped where the check fails.
        RunFailure{"more_memory_than_there_is",
                   {"bench", "all_reduce", "-n", "2", "-b", "900T", "-e", "900T"},
                   {},
                   "2 local ranks would take 3600.0 TiB of memory, but only "},
        RunFailure{"more_memory_than_there_is_under_a_launcher",
                   {"bench", "all_reduce", "-b", "900T", "-e", "900T", "--buffers", "private"},
                   {"RANK=0", "WORLD_SIZE=8", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=4",
                    "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29618"},
                   "4 local ranks would take 7200.0 TiB of memory, but only "},
        RunFailure{"more_gradients_than_there_is_memory",
                   {"bench", "all_reduce", "-n", "2", "-e", "900T", "--overlap", "5ms"},
                   {},
                   "would take 1800.0 TiB"}),
    [](const auto& failure) { return std::string(failure.param.name); });

// Files that `generate` wrote, and files next to them, belong to the user.
TEST(Generate, RefusesAFolderThatHasFilesAndChangesNothing) {
  const std::vector<std::vector<std::string>> kinds = {
      {"generate", "logs", "--on", "one-gpu-one-nic"},
      {"generate", "hangs", "--ranks", "2"},
      {"generate", "hangs", "--ranks", "2", "--cases", "2"}};
  for (std::vector<std::string> words : kinds) {
    const std::string folder = temporary_path("twice");
    fs::remove_all(folder);
    words.insert(words.end(), {"-o", folder});
    ASSERT_EQ(run_program(words).status, 0);
    std::ofstream(folder + "/thesis.tex") << "text";
    const auto count = [&] {
      return std::distance(fs::recursive_directory_iterator(folder),
                           fs::recursive_directory_iterator());
    };
    const auto before = count();
    words.insert(words.end(), {"--seed", "2"});
    const Outcome again = run_program(words);
    EXPECT_EQ(again.status, 2) << again.err;
    EXPECT_NE(again.err.find("help:  name a folder that is empty"), std::string::npos) << again.err;
    EXPECT_TRUE(fs::exists(folder + "/thesis.tex"));
    EXPECT_EQ(count(), before);
    fs::remove_all(folder);
  }
}

TEST(Generate, TheListOfMisconfigurationsNeedsNoJob) {
  const Outcome listed = run_program({"generate", "logs", "--break", "help"});
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_NE(listed.out.find("gdr-one-host"), std::string::npos) << listed.out;
}

// Short answers wait in stdio's buffer until the end; long ones fail earlier.
TEST(FullDisk, AnAnswerThatIsLostIsAnError) {
  for (const std::string words : {"--help", "topo --on one-gpu-one-nic --json",
                                  "explain all_reduce --on dgx-h100", "topo --on dgx-h100 --json",
                                  "bench all_reduce -n 2 -e 8", "bench all_reduce -n 2 -e 8 --json",
                                  "probe -n 2", "trace --help", "generate logs --break help"}) {
    const Outcome outcome = run_program(
        {"-c", std::string(RINGSIDE_PROGRAM) + " " + words + " >/dev/full"}, {}, "/bin/sh");
    EXPECT_EQ(outcome.status, 3) << words;
    EXPECT_EQ(outcome.err.rfind("error: stdout: ", 0), 0U) << words << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("help:"), std::string::npos) << outcome.err;
  }
}

// Tests may run as root, which may read everything.
TEST(Permissions, AFolderThatMayNotBeReadIsNotEmpty) {
  const std::string folder = temporary_path("forbidden");
  fs::create_directories(folder);
  std::ofstream(folder + "/rank0.log") << "n01:411:411 [0] NCCL INFO Bootstrap\n";
  fs::permissions(folder, fs::perms::none);
  {
    const OtherUser user;
    constexpr int kNotStarted = 127;
    if (run_program({"--version"}).status == kNotStarted)
      GTEST_SKIP() << "another user cannot start the program";
    for (const std::vector<std::string>& verb : {std::vector<std::string>{"audit"},
                                                 {"hang"},
                                                 {"hang", "--watch-for", "1", "--watch"},
                                                 {"reproduce"},
                                                 {"scenario", "import"}}) {
      std::vector<std::string> words = verb;
      words.push_back(folder);
      const Outcome outcome = run_program(words);
      EXPECT_EQ(outcome.status, 2) << verb[0] << ": " << outcome.err;
      EXPECT_EQ(outcome.err.rfind("error: " + folder + ": Permission denied", 0), 0U)
          << verb[0] << ": " << outcome.err;
    }
  }
  fs::permissions(folder, fs::perms::owner_all);
  fs::remove_all(folder);
}

TEST(BusyPort, IsNamedWithWhatToDo) {
  const UniqueFd holder(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(holder.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(holder.get(), 1), 0);
  socklen_t length = sizeof address;
  ASSERT_EQ(::getsockname(holder.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const Outcome outcome = run_program(
      {"bench", "all_reduce", "-e", "8"},
      {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("127.0.0.1:" + port), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("help:"), std::string::npos) << outcome.err;
}

// Allocates in a thread of its own or not: 300 MB do not suffice for either.
TEST(Errors, NoMemoryIsAnErrorLikeOthers) {
  if (std::string_view(RINGSIDE_SANITIZED) != "") GTEST_SKIP() << "a sanitizer reserves much more";
  for (const char* const question :
       {"all_to_all -N 256 --fidelity event", "all_reduce -N 2048 --fidelity flow"}) {
    const Outcome outcome =
        run_program({"-c", std::string("ulimit -v 300000; exec ") + RINGSIDE_PROGRAM +
                               " sim -b 64M --on dgx-h100 " + question},
                    {}, "/bin/sh");
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    EXPECT_EQ(outcome.err.substr(0, 20), "error: out of memory") << outcome.err;
  }
}

// The reader of a pipe has gone: the program ends by SIGPIPE, as other programs do, and without a word.
TEST(Errors, AReaderThatHasGoneEndsItQuietly) {
  const Outcome outcome = run_program(
      {"-c",
       "for i in 1 2 3 4; do \"$0\" topo --presets; done | head -c 1; echo ${PIPESTATUS[0]} >&2",
       RINGSIDE_PROGRAM},
      {}, "/bin/bash");
  EXPECT_EQ(outcome.out.size(), 1U);
  EXPECT_EQ(outcome.err, "141\n");
}

TEST(Errors, AMissingWindowSaysHowToGetIt) {
  const Outcome outcome = run_program({"gui", "--lesson", "ring"}, {"RINGSIDE_GUI=/is/not/there"});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("ringside-gui, the window, is not installed"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("./run gui"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("ringside-gui_"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace ringside
