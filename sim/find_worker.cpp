#include "sim/find_worker.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/shipped_file.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "RINGSIDE_SIMGRID";
constexpr const char* kWorker = "ringside-simgrid";

std::vector<fs::path> candidates(const WorkerPlaces& places) {
  if (places.named) return {*places.named};
  std::vector<fs::path> all;
  for (const std::string& place : shipped_places(places.program, kWorker, "sim/simgrid")) {
    all.emplace_back(place);
  }
  if (!places.library.empty()) {  // in lib/ or lib/x86_64-linux-gnu/ of the prefix
    fs::path prefix = fs::path(places.library).parent_path();
    for (int up = 0; up < 2; ++up) {
      prefix = prefix.parent_path();
      all.push_back(prefix / "libexec" / "ringside" / kWorker);
    }
  }
  if (!places.installed.empty()) all.emplace_back(places.installed);
  return all;
}

/// Returns whether the path is an executable file; a folder can have the "executable" permission too.
bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

WorkerPlaces worker_places() {
  WorkerPlaces places{.installed = RINGSIDE_SIMGRID_INSTALLED};
  if (const char* const named = std::getenv(kVariable); named != nullptr && *named != '\0') {
    places.named = named;
  }
  places.program = running_program();
  Dl_info holder{};
  if (::dladdr(reinterpret_cast<void*>(&worker_places), &holder) != 0 &&
      holder.dli_fname != nullptr) {
    std::error_code ignored;
    const fs::path path = fs::canonical(holder.dli_fname, ignored);
    if (path != places.program) places.library = path.string();
  }
  return places;
}

Result<std::string> find_worker(const WorkerPlaces& places) {
  std::vector<std::string> tried;
  for (const fs::path& candidate : candidates(places)) {
    if (is_program(candidate)) return candidate.string();
    tried.push_back(candidate.string());
  }
  return Error{
      ErrorCode::Unsupported,
      fmt::format("{}, the program that simulates, was not found: looked for {}", kWorker,
                  fmt::join(tried, ", ")),
      places.named
          ? fmt::format("{} has to name a program that can be run: fix the path, or unset it",
                        kVariable)
          : fmt::format("install ringside as a whole, or name it: {}=PATH", kVariable)};
}

}  // namespace ringside
