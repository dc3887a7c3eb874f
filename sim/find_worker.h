#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace ringside {

/// The places in which find_worker() looks for the program ringside-simgrid.
struct WorkerPlaces {
  std::optional<std::string> named = {};  ///< by RINGSIDE_SIMGRID: then nowhere else
  std::string program = {};               ///< the running executable
  std::string installed = {};             ///< what the build was configured to install
  /// libringside.so, where the running executable has this code from it; else empty
  std::string library = {};
};

/// Returns the places of this process.
WorkerPlaces worker_places();

/// Returns the path of the first existing program: the named one; next to the running program; in
/// the libexec folder of its prefix; in the build tree that contains it (a parent folder with a
/// CMakeCache.txt); in the libexec folder of the library's prefix; the installed one.
/// errors  Unsupported: the program is at none of these places; the message lists them
Result<std::string> find_worker(const WorkerPlaces& places);

}  // namespace ringside
