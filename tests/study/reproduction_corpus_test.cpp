#include <gtest/gtest.h>

#include <filesystem>

#include "study/reproduction.h"
#include "study/scenario_run.h"
#include "tests/support/shared.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;

// Dumps of real jobs: those that hang and say what differed are replayed with the same verdict in nine of ten.
TEST(ReproductionCorpus, RealDumpsHangAgain) {
  int tried = 0;
  int same = 0;
  std::string differ;
  for (const char* const set : {"/corpus/fr-torch", "/corpus/fr"}) {
    for (const auto& entry : fs::directory_iterator(shared_folder() + set)) {
      if (!entry.is_directory()) continue;
      const auto evidence = hang::examine({entry.path().string()});
      ASSERT_TRUE(evidence) << entry.path() << evidence.error().message;
      const auto reproduced = reproduction_of(*evidence);
      if (!reproduced) continue;
      const auto outcome = run_scenario({.scenario = reproduced->scenario});
      ASSERT_TRUE(outcome) << entry.path() << outcome.error().message;
      ++tried;
      if (outcome->unmet.empty()) {
        ++same;
      } else {
        differ += entry.path().filename().string() + " ";
      }
    }
  }
  EXPECT_GE(tried, 60);
  EXPECT_GE(same * 10, tried * 9) << same << " of " << tried << ": " << differ;
}

}  // namespace
}  // namespace ringside::study
