#include "engine/flight/dump.h"

#include <array>
#include <cstdio>

namespace ringside {
namespace {

// In the order of Collective and DataType.
// source  PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, c10/core/ScalarType.h
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
constexpr std::array kTypes{"Char", "Byte",  "Int",    "UInt32",   "Long",          "UInt64",
                            "Half", "Float", "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2"};

}  // namespace

const char* recorded_name(Collective collective) {
  return kCollectives[static_cast<std::size_t>(collective)];
}
const char* recorded_name(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }

bool has_format(const char* format, int major, int minor) {
  int own_major = 0;
  int own_minor = 0;
  if (std::sscanf(format, "%d.%d", &own_major, &own_minor) != 2) return false;
  return own_major > major || (own_major == major && own_minor >= minor);
}

}  // namespace ringside
