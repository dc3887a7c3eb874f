#include "tests/cli/json_answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace ringside {

nlohmann::json json_answer(const std::string& verb, const std::vector<std::string>& words) {
  std::vector<std::string> all{verb};
  all.insert(all.end(), words.begin(), words.end());
  all.emplace_back("--json");
  const Outcome outcome = run_program(all);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

}  // namespace ringside
