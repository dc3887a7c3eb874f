#include "diag/logparse/paste.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "diag/logparse/bare_prefix.h"
#include "diag/logparse/frame_line.h"
#include "diag/logparse/undress.h"
#include "tests/logparse/records.h"

namespace ringside::logs {
namespace {

std::vector<std::string> texts(std::string_view paste) {
  std::vector<std::string> all;
  for (const RestoredLine& line : restore_paste(paste)) all.push_back(line.stamped());
  return all;
}

using Lines = std::vector<std::string>;

constexpr const char* kWarn =
    "n01:411:980 [3] transport/net_ib.cc:1296 NCCL WARN NET/IB : Got completion from peer "
    "10.1.0.2<41234> with error 12, opcode 0, len 0, vendor err 129 (Recv)";

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string out;
  for (; text.size() > columns; text.remove_prefix(columns))
    out += std::string(text.substr(0, columns)) + "\n";
  return out + std::string(text) + "\n";
}

TEST(Pastes, RestoresTypesetCharacters) {
  std::string set = kWarn;
  for (std::size_t at = set.find(' '); at != std::string::npos; at = set.find(' ', at + 2))
    set.replace(at, 1, "\u00a0");
  set.replace(set.find('<'), 1, "&lt;");
  set.replace(set.find("\u00a0NCCL"), 2, "\u200b\u00a0");
  EXPECT_EQ(texts(set + "\n"), Lines{kWarn});
}

TEST(Pastes, ALineOfTheKernelsBeginsByItself) {
  const std::string fault = "NVRM: Xid (PCI:0000:1b:00): 79, pid=4411, GPU has fallen off the bus.";
  for (const std::string stamp : {"[Thu Oct  9 04:10:55 2025] ", "[80211.402118] "}) {
    const std::vector<std::string> lines = texts(std::string(kWarn) + "\n" + stamp + fault + "\n");
    EXPECT_EQ(lines.size(), 2U) << stamp;
  }
}

TEST(Pastes, ALineThatATerminalWrappedIsWholeAgain) {
  for (const std::size_t columns : {80U, 100U, 120U})
    EXPECT_EQ(texts(wrapped(kWarn, columns)), Lines{kWarn}) << columns;
}

TEST(Pastes, LinesThatPeopleWrapAreJoined) {
  EXPECT_EQ(texts("NCCL WARN Call to ibv_modify_qp failed with 61 No data available,\n"
                  "  on dev rocep1s0f0:1, curr state INIT,\n"
                  "  local GID ::\n"),
            Lines{"NCCL WARN Call to ibv_modify_qp failed with 61 No data available, on dev "
                  "rocep1s0f0:1, curr state INIT, local GID ::"});
  EXPECT_EQ(texts("[Rank 1] Watchdog caught collective operation timeout:\n"
                  "WorkNCCL(SeqNum=3, OpType=ALLREDUCE) ran for 600031ms before timing out.\n"),
            Lines{"[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, "
                  "OpType=ALLREDUCE) ran for 600031ms before timing out."});
}

TEST(Pastes, DoesNotJoinTheStartOfANewLine) {
  for (const std::string next :
       {"n01:411:980 [3] NCCL INFO misc/socket.cc:58 -> 2", "NCCL INFO init.cc:77 -> 2",
        "[3] NCCL WARN Cuda failure 'out of memory'", "[rank3]: Traceback (most recent call last):",
        "2026-03-01 10:11:12 step 3", "RuntimeError: NCCL error", "node2: RuntimeError: NCCL error",
        "  File \"train.py\", line 3, in main", "init.cc:943 Duplicate GPU detected", "...", "",
        "srun: error: n01: task 3: Killed", "frame #3: f (0x1 in x)", "- a remark",
        " .. n01 pid 411: Test failure common.cu:1013"}) {
    const std::string paste = std::string(kWarn) + "\n" + next + "\n";
    EXPECT_EQ(texts(paste), (Lines{kWarn, next.starts_with("- ") ? next : next})) << next;
  }
}

// A launcher or a collector tags the pieces of a line that was cut before: `[1,3]<stderr>:`, a time, NCCL's own prefix.
TEST(Pastes, JoinsPiecesWithTheSameTag) {
  const std::string warning =
      "n01:411:980 [3] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.9.8.7<51234> "
      "failed : No route to host";
  for (const std::string tag :
       {"[1,3]<stderr>:", "(pid=77) ", "2026-03-01T10:11:12.123Z ", "n01:411:980 [3] "}) {
    const bool is_prefix = tag.starts_with("n01");
    const std::string text = is_prefix ? warning.substr(tag.size()) : warning;
    const std::string paste = tag + text.substr(0, 62) + "\n" + tag + text.substr(62) + "\n";
    EXPECT_EQ(texts(paste), (Lines{tag + text})) << tag;
  }
  // Several complete lines follow one tag.
  const std::string tag = "[1,3]<stderr>:";
  EXPECT_EQ(texts(tag + warning + "\n" + tag + "step 3 of 100\n"),
            (Lines{tag + warning, tag + "step 3 of 100"}));
}

// A person's text below a quotation does not continue it, but a part that a terminal has wrapped does.
TEST(Pastes, AQuotationEndsWhereItsMarksEnd) {
  const std::string line =
      "node4:88:120 [1] misc/ibvwrap.cc:150 NCCL WARN Call to ibv_reg_mr failed with error";
  EXPECT_EQ(texts("> " + line + " Cannot allocate memory\nand, as said: it is the same here\n"),
            (Lines{line + " Cannot allocate memory", "and, as said: it is the same here"}));
  EXPECT_EQ(texts("> " + line + "\nCannot allocate memory\nand so on\n"),
            (Lines{line + " Cannot allocate memory", "and so on"}));
}

TEST(Pastes, LinesOfOtherProgramsAreUnchanged) {
  const Lines lines = {"epoch 1 of 3, the loss is lower than it was when we began with this, at",
                       "  2.31", "and goes on"};
  EXPECT_EQ(texts(lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n"), lines);
}

TEST(Pastes, DecorationAroundALineIsRemoved) {
  EXPECT_EQ(undecorated("> > NCCL INFO x"), "NCCL INFO x");
  EXPECT_EQ(undecorated("```bash"), "");
  EXPECT_EQ(undecorated("`NCCL WARN x`"), "NCCL WARN x");
  EXPECT_EQ(undecorated("| 2026-03-01T10:11:12Z | NCCL WARN x |"), "NCCL WARN x");
  EXPECT_EQ(undecorated("\x1b[31mNCCL WARN x\x1b[0m"), "NCCL WARN x");
  EXPECT_EQ(undecorated("- NCCL WARN x"), "NCCL WARN x");
  // A table of nvidia-smi and a list of steps are not decoration.
  EXPECT_EQ(undecorated("|   0  NVIDIA H100 80GB HBM3   On |"),
            "|   0  NVIDIA H100 80GB HBM3   On |");
  EXPECT_EQ(undecorated("- build it"), "- build it");
  EXPECT_EQ(texts("    NCCL INFO a\n      b\n"), (Lines{"NCCL INFO a", "  b"}));
}

TEST(Pastes, RemovesLabelsButNoTableRows) {
  EXPECT_EQ(texts("web-7f9c4 | NCCL INFO a\nweb-7f9c4 |   b\n"), (Lines{"NCCL INFO a", "  b"}));
  EXPECT_EQ(texts("web-7f9c4 | NCCL INFO a\nb\n"), (Lines{"web-7f9c4 | NCCL INFO a", "b"}));
  EXPECT_EQ(texts("AllReduce |  7.4/ 5.1 |\n"), (Lines{"AllReduce |  7.4/ 5.1 |"}));
}

TEST(Pastes, ColumnsOfACollectorOrASpreadsheetAreTakenOff) {
  const Lines lines = {"2026-02-18T03:11:40+00:00 NCCL INFO a",
                       "2026-02-18T03:11:41+00:00 NCCL INFO b"};
  EXPECT_EQ(texts("2026-02-18T03:11:40+00:00\ttrain/worker-0/9f2\tNCCL INFO a\n"
                  "2026-02-18T03:11:41+00:00\ttrain/worker-0/9f2\tNCCL INFO b\n"),
            lines);
  EXPECT_EQ(texts("1739848302006,\"NCCL INFO a\"\n1739848302007,\"loss 2.31, \"\"fine\"\"\"\n"),
            (Lines{"NCCL INFO a", "loss 2.31, \"fine\""}));
  // `nvidia-smi topo -m` has tabs of its own.
  const Lines matrix = {"\tGPU0\tGPU1", "GPU0\t X \tNV12", "GPU1\tNV12\t X"};
  EXPECT_EQ(texts(matrix[0] + "\n" + matrix[1] + "\n" + matrix[2] + "\n"), matrix);
}

TEST(Pastes, StringsOfANotebookItemsOfAListAndWebBreaksAreTakenOff) {
  EXPECT_EQ(texts("    \"NCCL INFO a\\n\",\n    \"a \\\"b\\\"\\n\",\n    \"c\\n\",\n"),
            (Lines{"NCCL INFO a", "a \"b\"", "c"}));
  EXPECT_EQ(texts("- `NCCL INFO a`\n- `srun: error: n1: task 9: Killed`\n"),
            (Lines{"NCCL INFO a", "srun: error: n1: task 9: Killed"}));
  EXPECT_EQ(texts("NCCL INFO a<br>\nNCCL INFO b<br/>\n"), (Lines{"NCCL INFO a", "NCCL INFO b"}));
}

TEST(Pastes, PodAndContainerBeforeABarAreALabel) {
  EXPECT_EQ(texts("train-worker-0 pytorch \u2502 NCCL INFO a\ntrain-worker-1 pytorch \u2502   b\n"),
            (Lines{"NCCL INFO a", "  b"}));
  EXPECT_EQ(texts("| 03:11:42 | worker-0 | srun: error: n1: task 9: Killed |\n"
                  "| 03:11:43 | worker-0 |     all_reduce (a.py:3) |\n"),
            (Lines{"srun: error: n1: task 9: Killed", "    all_reduce (a.py:3)"}));
}

TEST(Pastes, ALineThatBeginsWithItsRankIsANewLine) {
  const std::string work =
      ": WorkNCCL(SeqNum=77, OpType=BROADCAST, NumelIn=3072, NumelOut=3072) ran for 600017 "
      "milliseconds before timing out.";
  const Lines lines = {"rank 4" + work, "rank 5" + work};
  EXPECT_EQ(texts(lines[0] + "\n" + lines[1] + "\n"), lines);
}

TEST(Pastes, DevicesAndRanksAreNotLineNumbers) {
  const Lines devices = {"[1] NCCL INFO a", "[2] NCCL INFO b", "[3] NCCL INFO c"};
  EXPECT_EQ(texts(devices[0] + "\n" + devices[1] + "\n" + devices[2] + "\n"), devices);
  const Lines ranks = {"0: step 1", "1: step 1", "2: step 1"};
  EXPECT_EQ(texts(ranks[0] + "\n" + ranks[1] + "\n" + ranks[2] + "\n"), ranks);
  EXPECT_EQ(texts("12: a\n13: b\n14: c\n"), (Lines{"a", "b", "c"}));
}

TEST(Pastes, ANodeBeforeADeviceIsOfThePrefixAndNoLabel) {
  const Lines lines = {"node-2 [3] NCCL INFO a", "node-2 [3] NCCL INFO b"};
  EXPECT_EQ(texts(lines[0] + "\n" + lines[1] + "\n"), lines);
}

TEST(Pastes, RowsOfATableAreNotJoinedHoweverWideTheyAre) {
  const std::string row =
      "     1048576        262144     float     sum      -1    171.2    6.12   10.72      0";
  EXPECT_EQ(texts(row + "\n" + row + "\n" + row + "\n").size(), 3U);
}

TEST(Pastes, TheHostInALabelIsTheSpeaker) {
  std::string host;
  each_record("ip-10-1-0-7: RuntimeError: NCCL error\nip-10-1-0-7: and no more\n",
              [&](const Record&, const Speaker& speaker) { host = speaker.host; });
  EXPECT_EQ(host, "ip-10-1-0-7");
}

TEST(Pastes, ALevelOrVersionAfterALabelStartsANewLine) {
  const Lines lines = {"node a: NCCL version 2.21.5+cuda12.4",
                       "node b: NCCL version 2.27.3+cuda12.9"};
  EXPECT_EQ(texts(lines[0] + "\n" + lines[1] + "\n"), lines);
}

TEST(Pastes, ATagOfAnyProgramBeginsALine) {
  EXPECT_EQ(texts("RuntimeError: Gloo failed:\n[gloo] Rank 6 failed\n"),
            (Lines{"RuntimeError: Gloo failed:", "[gloo] Rank 6 failed"}));
}

// A stack in a line is long, and broken before an arrow, behind one, or in a word. A mail's `> ` is another thing.
TEST(Pastes, AStackInALineThatWasBrokenIsWholeAgain) {
  const Lines whole{
      "rank 0: all_reduce (torch/distributed_c10d.py:2501) > allreduce_grads (engine.py:310) > "
      "step "
      "(engine.py:402)",
      "rank 1: read (ssl.py:1100) > urlopen (urllib/request.py:216) > log_metrics "
      "(wandb/run.py:160) "
      "> main (t.py:8)"};
  for (const std::size_t columns : {60U, 72U, 80U, 86U}) {
    const Lines found = texts(wrapped(whole[0], columns) + wrapped(whole[1], columns));
    ASSERT_EQ(found.size(), 2U) << columns;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto stack = parse_stack_in_line(found[i]);
      ASSERT_TRUE(stack) << columns << " " << found[i];
      EXPECT_EQ(stack->label, i == 0 ? "rank 0:" : "rank 1:");
      EXPECT_EQ(stack->frames.size(), 3 + i) << columns << " " << found[i];
    }
  }
  EXPECT_EQ(
      texts("rank 0: f (distributed_c10d.py:2501) <- allreduce_gradients_of_all (engine.py:31)\n"
            "  <- step (engine.py:40)\nrank 1: main (t.py:8) <- x\n"),
      (Lines{"rank 0: f (distributed_c10d.py:2501) <- allreduce_gradients_of_all "
             "(engine.py:31) <- step (engine.py:40)",
             "rank 1: main (t.py:8) <- x"}));
  EXPECT_EQ(
      texts("rank 0: f (a.py:1) > g (b.py:2)\nrank 1: f (a.py:1) > g (b.py:2)\n> so it is\n"),
      (Lines{"rank 0: f (a.py:1) > g (b.py:2)", "rank 1: f (a.py:1) > g (b.py:2)", "so it is"}));
}

TEST(Pastes, DoesNotJoinLinesThatBeginAlike) {
  std::string bar;
  Lines each;
  for (const std::string step : {"45", "46", "47"}) {
    each.push_back("Epoch 3:  " + step + "%| " + step +
                   "0/1000 [00:45<00:55, 10.0it/s, v_num=2, loss=0.91]");
    bar += each.back() + "\n";
  }
  EXPECT_EQ(texts(bar), each);
}

// A pod's name, and one that a second collector has appended.
TEST(Pastes, RemovesSeveralLabels) {
  EXPECT_EQ(texts("job-7d9f-x2 pod/llm-0 one\njob-7d9f-x2 pod/llm-1 two\n"), (Lines{"one", "two"}));
}

TEST(Pastes, LinesKeepTheirNumbers) {
  const auto restored = restore_paste("a\n" + wrapped(kWarn, 80) + "b\n");
  ASSERT_EQ(restored.size(), 3U);
  EXPECT_EQ(restored[1].number, 1U);
  EXPECT_EQ(restored[1].lines, 2U);
  EXPECT_EQ(restored[2].number, 3U);
  std::uint64_t counted = 0;
  counted = each_record("a\n" + wrapped(kWarn, 80) + "b\n", [](const Record&, const Speaker&) {
            }).counts.lines;
  EXPECT_EQ(counted, 4U);
}

struct Bare {
  std::string text, host;
  int pid, device;
  Level level;
  std::string message;
};

TEST(BarePrefixes, GiveTheRemainingFields) {
  for (const Bare& want : std::vector<Bare>{
           {"NCCL WARN Cuda failure", "", -1, -1, Level::Warn, "Cuda failure"},
           {"[3] NCCL INFO Using network IB", "", -1, 3, Level::Info, "Using network IB"},
           {"node-2 [3] NCCL INFO Using network IB", "node-2", -1, 3, Level::Info,
            "Using network IB"},
           {"host:XXXX:XXXX [0] a/b.cc:7 NCCL WARN x", "host", -1, 0, Level::Warn, "x"},
           {"<host>:<pid>:<tid> [1] NCCL INFO x", "host", -1, 1, Level::Info, "x"},
           {"ubuntu1583:1585 [0] init.cc:738 NCCL WARN x", "ubuntu1583", 1585, 0, Level::Warn, "x"},
           {"misc/ibvwrap.cc:309 NCCL WARN x", "", -1, -1, Level::Warn, "x"},
           {"... NCCL WARN x", "", -1, -1, Level::Warn, "x"},
           {"init.cc:943 Duplicate GPU", "", -1, -1, Level::None, "Duplicate GPU"}}) {
    NcclPrefix prefix;
    ASSERT_TRUE(read_bare_prefix(want.text, prefix)) << want.text;
    EXPECT_EQ(prefix.host, want.host) << want.text;
    EXPECT_EQ(prefix.pid, want.pid) << want.text;
    EXPECT_EQ(prefix.device, want.device) << want.text;
    EXPECT_EQ(prefix.level, want.level) << want.text;
    EXPECT_EQ(want.text.substr(prefix.end), want.message);
  }
  NcclPrefix prefix;
  for (const std::string_view none :
       {"step 3", "train.py:77 begins", "MYNCCL WARN x", "NCCL WARNING x", "init.cc:77 -> 3", ""})
    EXPECT_FALSE(read_bare_prefix(none, prefix)) << none;
}

TEST(BarePrefixes, OneBadLineSilencesNoOther) {
  int found = 0;
  each_record("NCCL WARN \xff\xfe broken \x01\n[9 NCCL INFO ?\nNCCL INFO Using network IB\n",
              [&](const Record& record, const Speaker&) {
                if (record.kind == RecordKind::NetworkInUse) ++found;
              });
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace ringside::logs
