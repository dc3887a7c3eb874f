#include "study/scenario/scenario_parts.h"

#include <algorithm>

#include "diag/hangdetect/examine.h"

namespace ringside::study {

std::int64_t most_calls(const hangs::Program& program) {
  std::int64_t most = 0;
  for (const hangs::RankProgram& own : program.programs) {
    const auto calls = std::ranges::count(own.body, hangs::Step::Kind::Call, &hangs::Step::kind);
    most = std::max<std::int64_t>(most, calls * own.iterations);
  }
  return most;
}

Result<hang::Explanation> verdict_of(const std::string& folder) {
  RINGSIDE_TRY(const hang::Examination all, hang::examine({folder}));
  return all.verdict.best;
}

}  // namespace ringside::study
