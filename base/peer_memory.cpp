#include "base/peer_memory.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace ringside {

bool has_peer_memory(const std::string& root) {
  constexpr std::array kVersions{"module/nvidia_peermem/version",
                                 "kernel/mm/memory_peers/nv_mem/version",
                                 "kernel/mm/memory_peers/nv_mem_nc/version"};
  return std::ranges::any_of(kVersions, [&](const char* file) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(root) / file, ignored);
  });
}

}  // namespace ringside
