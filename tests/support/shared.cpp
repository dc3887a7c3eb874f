#include "tests/support/shared.h"

#include <filesystem>
#include <stdexcept>

#include "base/env.h"

namespace ringside {

std::string shared_folder() {
  const std::string folder = env_text("RINGSIDE_SHARED").value_or(RINGSIDE_DEFAULT_SHARED);
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return folder;
  throw std::runtime_error(
      folder + ": no such folder; set RINGSIDE_SHARED to the one that holds oracle/ and corpus/");
}

}  // namespace ringside
