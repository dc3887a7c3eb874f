#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/verb.h"

namespace ringside::cli {

/// What `ringside hang --generate DIR` was told. Filled by CLI11, read by run_hang_generate().
struct HangGenerateOptions {
  std::string folder;   ///< --generate; empty: it was not asked for
  int cases = 1;        ///< --cases
  std::string seed;     ///< --seed; a whole number
  std::string fault;    ///< --class; empty: all in turn
  int ranks = 0;        ///< --ranks; 0: drawn by the seed
  int records = 0;      ///< --records: calls of each rank; 0: drawn by the seed
  int frames = 0;       ///< --frames: of each stack; 0: as few as there can be
  int lost = 0;         ///< --lost: percent of the files of each case that are left out
  std::string program;  ///< --program: a YAML file; empty: one of the built-in workloads
};

/// Adds --generate and what goes with it to the verb's own options.
std::shared_ptr<HangGenerateOptions> declare_hang_generate(CLI::App& app);

/// Writes the cases below the folder and says in one line what there is now.
///
/// json     one document on stdout instead of the line
/// returns  0
/// errors   InvalidArgument: an option that cannot be meant, or that goes without --generate.
///          NotFound, Corrupt: the program.  System: the folder cannot be written.
VerbResult run_hang_generate(const HangGenerateOptions& options, bool json);

}  // namespace ringside::cli
