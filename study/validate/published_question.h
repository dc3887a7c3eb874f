#pragma once

#include <string>
#include <vector>

#include "study/simulation.h"
#include "study/validate/published.h"

/// How a published measurement is simulated. Private to this folder.
namespace ringside::study {

/// The description of a measured system's hosts.
struct MeasuredHosts {
  std::string path;
  int unit = 1;  ///< nodes of the table in one node of the description
  std::vector<std::string> set = {};
};

/// Returns the file that describes a row's hosts, as ValidationQuestion::machines; empty: no file describes them.
std::string path_of_machine(const PublishedRow& row, const std::string& folder);

/// Reads settings from comments of the file: `#: unit 18`, `#: --set N=V`. Without such comments, or without the file,
/// there are none.
MeasuredHosts read_machine(const PublishedRow& row, const std::string& path);

/// Returns the question for a row: its call on its hosts, with the release, the network and the launch style that the
/// texts of its system name, in a loop of calls.
SimQuestion question_of(const PublishedRow& row, const PublishedSystem& system,
                        const MeasuredHosts& machine);

}  // namespace ringside::study
