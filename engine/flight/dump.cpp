#include "engine/flight/dump.h"

#include <array>
#include <cstdio>

namespace ringside {
namespace {

// In the order of Collective.
// source  PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp
constexpr std::array kCollectives{"broadcast",
                                  "reduce",
                                  "_all_gather_base",
                                  "_reduce_scatter_base",
                                  "all_reduce",
                                  "coalesced",
                                  "send",
                                  "recv",
                                  "all_to_all",
                                  "scatter",
                                  "gather",
                                  "all_gather"};
static_assert(kCollectives.size() == kCollectiveCount);

}  // namespace

const char* recorded_name(Collective collective) {
  return kCollectives[static_cast<std::size_t>(collective)];
}

bool has_format(const char* format, int major, int minor) {
  int own_major = 0;
  int own_minor = 0;
  if (std::sscanf(format, "%d.%d", &own_major, &own_minor) != 2) return false;
  return own_major > major || (own_major == major && own_minor >= minor);
}

}  // namespace ringside
