#include "diag/facts/schema.h"

#include <gtest/gtest.h>

#include <utility>

#include "diag/facts/exit_status.h"
#include "diag/facts/step_lines.h"

namespace ringside::facts {
namespace {

TEST(FactSchema, AFieldIsSetFromTextAndPrinted) {
  AnyFact fact = *make_fact("died");
  EXPECT_EQ(set_field(fact, "rank", "3"), SetResult::Set);
  EXPECT_EQ(set_field(fact, "exit", "-9"), SetResult::Set);
  EXPECT_EQ(set_field(fact, "reason", "was killed"), SetResult::Set);
  EXPECT_EQ(to_text(fact), "died rank=3 cause=signal code=9 reason='was killed'");
}

TEST(FactSchema, ReportsUnknownFieldsAndValues) {
  EXPECT_FALSE(make_fact("perished"));
  AnyFact fact = *make_fact("died");
  EXPECT_EQ(set_field(fact, "rnak", "3"), SetResult::UnknownField);
  EXPECT_EQ(set_field(fact, "rank", "three"), SetResult::BadValue);
  EXPECT_EQ(set_field(fact, "cause", "boredom"), SetResult::BadValue);
  EXPECT_EQ(to_text(fact), "died cause=unknown");
}

TEST(FactSchema, AStatusIsASignalOrACode) {
  EXPECT_EQ(status_of_code(137)->code, 9);
  EXPECT_EQ(status_of_code(137)->cause, DeathCause::Signal);
  EXPECT_EQ(status_of_code(1)->cause, DeathCause::ExitCode);
  EXPECT_FALSE(status_of_code(0));
  EXPECT_EQ(status_of_words("Segmentation fault (core dumped)")->code, 11);
  EXPECT_EQ(status_of_words("Exited with exit code 3")->code, 3);
  EXPECT_EQ(status_of_words("Exited with exit code 137")->code, 9);
  for (const auto& [words, signal] : {std::pair("Aborted", 6), std::pair("Terminated", 15),
                                      std::pair("Killed", 9), std::pair("Bus error", 7)})
    EXPECT_EQ(status_of_words(words)->code, signal) << words;
  EXPECT_EQ(status_of_words("Out Of Memory")->cause, DeathCause::HostMemory);
  EXPECT_FALSE(status_of_words("completed"));
}

TEST(FactSchema, StepsOfTrainingLoopsAreRead) {
  EXPECT_EQ(read_step("step 1/10 loss 2").step, 1);
  EXPECT_EQ(read_step("iteration   42780/ 115311").steps, 115311);
  EXPECT_EQ(read_step(" 45%|###  | 450/1000 [00:45<00:55, 10.0it/s]").step, 450);
  EXPECT_EQ(read_step("[step=12]").step, 12);
  EXPECT_EQ(read_step("a footstep in the dark").step, -1);
  EXPECT_EQ(read_step("reads from /7 [at 10.0it/s]").steps, -1);
}

TEST(FactSchema, OperationsHaveOneNameInAllPrograms) {
  for (const char* name : {"ALLREDUCE", "allreduce", "all_reduce", "ncclAllReduce", "MPI_Allreduce",
                           "MPI_Iallreduce", "ALLREDUCE_SPARSE"})
    EXPECT_EQ(canonical_operation(name), "all_reduce") << name;
  EXPECT_EQ(canonical_operation("_ALLGATHER_BASE"), "all_gather");
  EXPECT_EQ(canonical_operation("frobnicate"), "frobnicate");
}

}  // namespace
}  // namespace ringside::facts
