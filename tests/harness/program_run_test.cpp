#include "harness/program_run.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

using hangs::Op;
using hangs::Step;

Step call(Op op, std::int64_t count) {
  return {
      .kind = Step::Kind::Call, .op = op, .type = DataType::Float32, .group = 0, .count = count};
}

// Room for what each of 4 ranks gives, in and out: 2 * 4 * 1000 floats of 4 bytes. A rank that runs something else in one
// iteration counts with that, and a longer call is cut to between 500 and 1000 elements.
TEST(ProgramMemory, IsThatOfTheCallThatTakesMost) {
  hangs::Program program;
  program.ranks = 4;
  program.groups.push_back({.name = "0", .desc = "", .ranks = {0, 1, 2, 3}});
  program.programs.resize(4);
  program.programs[0].body = {call(Op::AllReduce, 10), Step{}};
  program.programs[2].odd[3] = {call(Op::AllReduce, 1000)};
  EXPECT_EQ(program_memory(program, 1 << 20), Bytes{2 * 4 * 1000 * 4});
  program.programs[1].body = {call(Op::AllReduce, 1'000'000)};
  EXPECT_EQ(program_memory(program, 1 << 20), Bytes{2 * 4 * 1'000'000 * 4});
  EXPECT_LE(program_memory(program, 1000), Bytes{2 * 4 * 1000 * 4});
}

}  // namespace
}  // namespace ringside
