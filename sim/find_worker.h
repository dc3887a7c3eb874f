#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace ringside {

/// Where ringside-simgrid may be.
struct WorkerPlaces {
  std::optional<std::string> named = {};  ///< by RINGSIDE_SIMGRID: then nowhere else
  std::string program = {};               ///< the running executable
  std::string installed = {};             ///< what the build was configured to install
  std::string library =
      {};  ///< libringside.so, where the running executable has this code from it; else empty
};

/// Of this process.
WorkerPlaces worker_places();

/// The first that exists: the named one; next to the program; in the libexec folder of its prefix, or of the library's; in the
/// build tree that holds it (a folder above with a CMakeCache.txt); the installed one.
/// errors  Unsupported: it is at none of them; with their names
Result<std::string> find_worker(const WorkerPlaces& places);

}  // namespace ringside
