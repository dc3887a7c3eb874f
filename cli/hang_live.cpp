#include "cli/hang_live.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/write_file.h"
#include "engine/runtime/status_service.h"

namespace ringside::cli {
namespace {

constexpr auto kBetween = std::chrono::seconds(2);
constexpr Nanoseconds kPatience = std::chrono::seconds(15);

/// A folder that goes with the object.
class Scratch {
 public:
  Scratch()
      : path_((std::filesystem::temp_directory_path() / fmt::format("ringside-live-{}", ::getpid()))
                  .string()) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<hang::Examination>> examine_live(std::uint16_t port) {
  const Scratch scratch;
  for (int i = 1; i <= 2; ++i) {
    if (i > 1) std::this_thread::sleep_for(kBetween);
    RINGSIDE_TRY(const std::string report,
                 ask_status(loopback_address(port), true, deadline_in(kPatience)));
    RINGSIDE_TRY(write_file(fmt::format("{}/ncclras-{}.json", scratch.path(), i), report));
  }
  RINGSIDE_TRY(hang::Examination all, hang::examine({scratch.path()}));
  return std::make_unique<hang::Examination>(std::move(all));
}

}  // namespace ringside::cli
