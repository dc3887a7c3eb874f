#pragma once

#include <optional>
#include <string>

#include "cli/verb.h"

namespace ringside::cli {

class Options;

/// The options of `ringside generate hangs`.
struct HangOptions {
  std::string folder;          ///< -o
  int cases = 1;               ///< --cases
  std::string seed = "1";      ///< --seed; a whole number
  std::string fault;           ///< --class; empty: all, alternately
  std::optional<int> ranks;    ///< --ranks; none: drawn by the seed
  std::optional<int> records;  ///< --records: calls of each rank; none: drawn by the seed
  std::optional<int> frames;   ///< --frames: depth of stacks; none: minimal
  int lost = 0;                ///< --lost: percent of the files of each case that are omitted
  std::string program;         ///< --program: a YAML file; empty: one of the built-in workloads
  bool json = false;
};

/// Adds the options that fill `options`, which must outlive the parsing.
void add_hang_options(Options& app, HangOptions& options);

/// Writes the cases below the folder, and prints a summary on stdout.
///
/// errors   InvalidArgument: an impossible option.  NotFound, Corrupt: the program.
///          System: the folder cannot be written.
VerbResult generate_hangs(const HangOptions& options);

}  // namespace ringside::cli
