#pragma once

#include <optional>
#include <string>

#include "cli/verb.h"

namespace ringside::cli {

class Options;

/// What `ringside generate hangs` was told. Filled by CLI11, read by generate_hangs().
struct HangOptions {
  std::string folder;          ///< -o
  int cases = 1;               ///< --cases
  std::string seed = "1";      ///< --seed; a whole number
  std::string fault;           ///< --class; empty: all in turn
  std::optional<int> ranks;    ///< --ranks; else drawn by the seed
  std::optional<int> records;  ///< --records: calls of each rank; else drawn by the seed
  std::optional<int> frames;   ///< --frames: of each stack; else as few as there can be
  int lost = 0;                ///< --lost: percent of the files of each case that are left out
  std::string program;         ///< --program: a YAML file; empty: one of the built-in workloads
  bool json = false;
};

/// `options` outlives the parsing.
void add_hang_options(Options& app, HangOptions& options);

/// Writes the cases below the folder and says on stdout what there is now.
///
/// errors   InvalidArgument: an option that cannot be meant.  NotFound, Corrupt: the program.
///          System: the folder cannot be written.
VerbResult generate_hangs(const HangOptions& options);

}  // namespace ringside::cli
