#include "tests/agreement/agreement.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/golden_job.h"
#include "tests/support/oracle.h"

namespace ringside::oracle {

std::array<Comparison, kParts.size()> compare_all(const std::string& name) {
  const Json golden = load_golden(name);
  const Job job = solve(golden);
  const auto tuner = Tuner::make(job.connection.shape, {});
  if (!tuner) throw std::runtime_error(tuner.error().message);
  std::array<Comparison, kParts.size()> all;
  for (const Part part : kParts) {
    all[static_cast<std::size_t>(part)] =
        compare(golden_part(golden, part), our_part(job, *tuner, part));
  }
  return all;
}

}  // namespace ringside::oracle
