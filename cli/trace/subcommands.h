#pragma once

#include <string>
#include <vector>

#include "cli/job_options.h"
#include "cli/verb.h"

/// The subcommands of `ringside trace`. Each prints its result; `json` makes that one JSON document.
namespace ringside::cli {

class Options;

struct InfoArguments {
  std::vector<std::string> files;
  JobOptions job;      ///< the hosts that the trace was recorded on; no name: those that it states
  bool all = false;    ///< every channel and call
  bool calls = false;  ///< every collective
  bool json = false;
};

struct ExportArguments {
  std::string file;
  bool to_perfetto = false;
  std::string html;  ///< the page to be written
  std::string out;   ///< of Perfetto; -: stdout; empty: the file's name with .json
};

/// For merge and import.
struct MergeArguments {
  std::vector<std::string> files;
  std::string out;
  bool json = false;  ///< of merge
};

VerbResult run_info(const InfoArguments& arguments);
/// app  the subcommand's options, which check the output that they do not name
VerbResult run_export(const ExportArguments& arguments, const Options& app);
VerbResult run_merge(const MergeArguments& arguments);
VerbResult run_import(const MergeArguments& arguments);

/// Returns text from a trace without the control characters that a terminal obeys: each becomes `?`.
std::string printable(std::string text);

}  // namespace ringside::cli
