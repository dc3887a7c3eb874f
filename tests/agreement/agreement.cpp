#include "tests/agreement/agreement.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/golden_compare_tuning.h"
#include "tests/support/golden_job.h"
#include "tests/support/oracle.h"

namespace ringside::oracle {

std::array<Part, kParts> compare_all(const std::string& name) {
  const Json golden = load_golden(name);
  const Job job = solve(golden);
  const auto tuner = Tuner::make(job.connection.shape, {});
  if (!tuner) throw std::runtime_error(tuner.error().message);
  return {Part{"systems", compare_systems(golden, job)},
          Part{"searches", compare_searches(golden, job)},
          Part{"merged graphs", compare_merged(golden, job)},
          Part{"counts", compare_comm(golden, job)},
          Part{"rings and trees", compare_channels(golden, job)},
          Part{"cost table", compare_table(golden, *tuner)},
          Part{"choices", compare_choices(golden, *tuner)}};
}

}  // namespace ringside::oracle
