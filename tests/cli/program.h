#pragma once

#include <string>
#include <vector>

namespace ringside {

/// The output of the program and its status.
struct Outcome {
  int status = -1;  ///< exit status; 128 + signal when it was killed
  std::string out;
  std::string err;
};

/// Runs the built program (or with `program`, another one) with these words and variables NAME=VALUE.
Outcome run_program(const std::vector<std::string>& words,
                    const std::vector<std::string>& variables = {},
                    const std::string& program = RINGSIDE_PROGRAM);

/// A path in the tests' temporary folder that no other test has.
std::string temporary_path(const std::string& name);

}  // namespace ringside
