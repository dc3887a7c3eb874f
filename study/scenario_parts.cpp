#include "study/scenario_parts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "diag/hangdetect/examine.h"

namespace ringside::study {

namespace fs = std::filesystem;

EvidenceFolder::EvidenceFolder(const std::string& named)
    : path_(named.empty()
                ? (fs::temp_directory_path() / fmt::format("ringside-run-{}", ::getpid())).string()
                : named),
      is_kept_(!named.empty()) {}

EvidenceFolder::~EvidenceFolder() {
  std::error_code ignored;
  if (!is_kept_) fs::remove_all(path_, ignored);
}

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
