#include <gtest/gtest.h>

#include <filesystem>

#include "study/scenario/reproduction.h"
#include "study/scenario/scenario_run.h"
#include "tests/support/shared.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

// Dumps of real jobs: of all that hang, nine of ten are replayed with the same verdict; refused ones count as
// failures.
TEST(ReproductionCorpus, RealDumpsHangAgain) {
  int hangs = 0;
  int tried = 0;
  int same = 0;
  int met = 0;
  std::string differ, unmet;
  for (const char* const set : {"/corpus/fr-torch", "/corpus/fr"}) {
    for (const auto& entry : fs::directory_iterator(shared_folder() + set)) {
      if (!entry.is_directory()) continue;
      const auto evidence = hang::examine({entry.path().string()});
      ASSERT_TRUE(evidence) << entry.path() << evidence.error().message;
      hangs += evidence->verdict.best.kind != hang::Kind::NotAHang;
      const auto reproduced = reproduction_of(*evidence);
      if (!reproduced) continue;
      const auto outcome =
          run_scenario({.scenario = reproduced->scenario, .asks_ncclras = reproduced->has_ncclras});
      ASSERT_TRUE(outcome) << entry.path() << outcome.error().message;
      // `ringside run` of the file queries ncclras too, which may show more than the evidence did.
      const auto as_run = run_scenario({.scenario = reproduced->scenario});
      ASSERT_TRUE(as_run) << entry.path() << as_run.error().message;
      met += as_run->unmet.empty();
      for (const std::string& one : as_run->unmet)
        unmet += entry.path().filename().string() + ": " + one + "\n";
      ++tried;
      const hang::Explanation& original = evidence->verdict.best;
      if (outcome->unmet.empty() && outcome->verdict && outcome->verdict->kind == original.kind) {
        ++same;
      } else {
        differ += entry.path().filename().string() + " ";
      }
    }
  }
  RecordProperty("hangs", hangs);
  RecordProperty("same", same);
  EXPECT_GE(hangs, 75);
  EXPECT_GE(met * 10, hangs * 9) << unmet;
  EXPECT_GE(same * 10, hangs * 9) << same << " of " << hangs << ", " << tried
                                  << " tried: " << differ;
}

}  // namespace
}  // namespace ringside::study
