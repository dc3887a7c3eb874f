#include "engine/topology/device_models.h"

#include <algorithm>
#include <array>

namespace ringside {
namespace {

constexpr std::array<GpuModel, 35> kModels{{{0x15f7, 0x15f9, 60, true, "P100"},
                                            {0x1b38, 0x1b38, 61, true, "P40"},
                                            {0x1bb3, 0x1bb3, 61, true, "P4"},
                                            {0x1db1, 0x1dbf, 70, true, "V100"},
                                            {0x1df5, 0x1df6, 70, true, "V100"},
                                            {0x1e30, 0x1e3d, 75, true, "Quadro RTX 6000"},
                                            {0x1eb8, 0x1eb8, 75, true, "T4"},
                                            {0x2080, 0x20bf, 80, true, "A100"},
                                            {0x20f1, 0x20f6, 80, true, "A100"},
                                            {0x2203, 0x2208, 86, false, "RTX 3090"},
                                            {0x2230, 0x2234, 86, true, "RTX A6000"},
                                            {0x2235, 0x2235, 86, true, "A40"},
                                            {0x2236, 0x2236, 86, true, "A10"},
                                            {0x2237, 0x2238, 86, true, "A10G, A10M"},
                                            {0x25b6, 0x25b6, 86, true, "A16"},
                                            {0x2302, 0x2302, 90, true, "H100"},
                                            {0x2313, 0x2313, 90, true, "H100"},
                                            {0x2321, 0x2324, 90, true, "H100"},
                                            {0x2329, 0x2334, 90, true, "H100"},
                                            {0x2335, 0x2335, 90, true, "H200"},
                                            {0x2336, 0x233f, 90, true, "H100, H200"},
                                            {0x2342, 0x2348, 90, true, "GH200"},
                                            {0x2684, 0x2689, 89, false, "RTX 4090"},
                                            {0x26b1, 0x26b3, 89, true, "RTX 6000 Ada"},
                                            {0x26b5, 0x26ba, 89, true, "L40, L40S"},
                                            {0x27b0, 0x27b8, 89, true, "L4"},
                                            {0x2901, 0x2920, 100, true, "B200"},
                                            {0x2940, 0x2941, 100, true, "GB200"},
                                            {0x29bc, 0x29bc, 100, true, "B200"},
                                            {0x2b85, 0x2b87, 120, false, "RTX 5090"},
                                            {0x2bb1, 0x2bb5, 120, true, "RTX PRO 6000"},
                                            {0x2c02, 0x2c05, 120, false, "RTX 5080"},
                                            {0x2e12, 0x2e12, 121, false, "GB10"},
                                            {0x3180, 0x3182, 103, true, "B300"},
                                            {0x31c0, 0x31c3, 103, true, "GB300"}}};

struct GpuMemory {
  std::uint16_t device_id;
  int gigabytes;
};

constexpr std::array<GpuMemory, 18> kMemories{{{0x1db1, 16},     // V100 SXM2 16 GB
                                               {0x1db5, 32},     // V100 SXM2 32 GB
                                               {0x1eb8, 16},     // T4
                                               {0x20b0, 40},     // A100 SXM4 40 GB
                                               {0x20b2, 80},     // A100 SXM4 80 GB
                                               {0x20b5, 80},     // A100 PCIe 80 GB
                                               {0x20f1, 40},     // A100 PCIe 40 GB
                                               {0x2236, 24},     // A10
                                               {0x2237, 24},     // A10G
                                               {0x2330, 80},     // H100 SXM5
                                               {0x2331, 80},     // H100 PCIe
                                               {0x2335, 141},    // H200 SXM
                                               {0x2342, 96},     // GH200 with HBM3
                                               {0x2684, 24},     // RTX 4090
                                               {0x26b9, 48},     // L40S
                                               {0x27b8, 24},     // L4
                                               {0x2901, 180},    // B200: an eighth of a DGX B200
                                               {0x2941, 186}}};  // GB200: a 72nd of an NVL72

struct NicModel {
  std::uint16_t vendor_id, device_id;
  int mbits_per_second;
};

constexpr std::array<NicModel, 14> kNics{{{0x15b3, 0x1011, 56000},     // Connect-IB
                                          {0x15b3, 0x1013, 100000},    // ConnectX-4
                                          {0x15b3, 0x1014, 100000},    // its virtual function
                                          {0x15b3, 0x1017, 100000},    // ConnectX-5
                                          {0x15b3, 0x1018, 100000},    // its virtual function
                                          {0x15b3, 0x1019, 100000},    // ConnectX-5 Ex
                                          {0x15b3, 0x101b, 200000},    // ConnectX-6
                                          {0x15b3, 0x101c, 200000},    // its virtual function
                                          {0x15b3, 0x101d, 100000},    // ConnectX-6 Dx
                                          {0x15b3, 0x1021, 400000},    // ConnectX-7
                                          {0x15b3, 0x101e, 400000},    // its virtual function
                                          {0x15b3, 0x1023, 800000},    // ConnectX-8
                                          {0x15b3, 0xa2dc, 400000},    // BlueField-3
                                          {0x1d0f, 0xefa2, 100000}}};  // EFA

}  // namespace

int nic_mbits_per_second(std::uint16_t vendor_id, std::uint16_t device_id) {
  const auto found = std::find_if(kNics.begin(), kNics.end(), [&](const NicModel& model) {
    return model.vendor_id == vendor_id && model.device_id == device_id;
  });
  return found == kNics.end() ? 0 : found->mbits_per_second;
}

int gpu_memory_gb(std::uint16_t device_id) {
  const auto found = std::ranges::find(kMemories, device_id, &GpuMemory::device_id);
  return found == kMemories.end() ? 0 : found->gigabytes;
}

std::optional<GpuModel> gpu_model(std::uint16_t device_id) {
  const auto found = std::find_if(kModels.begin(), kModels.end(), [&](const GpuModel& model) {
    return device_id >= model.first_id && device_id <= model.last_id;
  });
  if (found == kModels.end()) return std::nullopt;
  return *found;
}

}  // namespace ringside
