#include "tests/cuda/switch_cases.h"

#include <array>

namespace ringside {

ProcessJob switch_job(int nranks, MemoryAccess shares_by) {
  return {.nranks = nranks, .shares_by = shares_by, .has_switch = true};
}

bool has_switch(const ProcessRank& rank, int nranks) {
  return device_count() >= nranks && rank.device.launcher().memory.place().has_multicast;
}

DeviceCase nvls_case(Collective collective, int nranks, std::int64_t count) {
  DeviceCase test;
  test.nranks = nranks;
  test.is_exact = true;
  test.call.collective = collective;
  test.call.type = DataType::Int32;
  test.call.count = count;
  test.choice = {.collective = collective,
                 .algorithm = Algorithm::Nvls,
                 .slot = 512_B,
                 .slots_per_chunk = 1,
                 .chunk = 512_B};
  return test;
}

std::vector<DeviceCase> nvls_cases(int nranks) {
  constexpr std::array kCollectives{Collective::AllReduce, Collective::AllGather,
                                    Collective::ReduceScatter, Collective::AllReduce};
  constexpr std::array kTypes{DataType::Int32, DataType::Float16, DataType::Float32};
  std::vector<DeviceCase> cases;
  for (std::uint64_t turn = 0; turn < 16; ++turn) {
    DeviceCase test = nvls_case(kCollectives.at(turn % 4), nranks,
                                1 + static_cast<std::int64_t>(turn * 331 % 2003));
    if (turn % 4 == 3) test.choice.algorithm = Algorithm::NvlsTree;
    test.seed = turn + 1;
    test.call.type = kTypes.at(turn % 3);
    test.choice.nchannels = 1 + static_cast<int>(turn / 5 % 2);
    test.choice.slot = turn / 4 % 2 == 0 ? 512_B : 2_KiB;
    cases.push_back(test);
  }
  return cases;
}

Result<int> run_switch_cases(const ProcessRank& rank, const std::vector<DeviceCase>& cases,
                             const std::vector<std::vector<std::vector<std::byte>>>& expected) {
  const int nranks = cases.front().nranks;
  if (!has_switch(rank, nranks)) return kNoSwitch;
  for (const DeviceCase& test : cases) {
    rank.communicator.set_settings({.algorithm = test.choice.algorithm});
    RINGSIDE_TRY(const Choice choice, rank.communicator.choose(test.call));
    // With nodes of one rank a switch has nothing to do.
    const bool has_nodes = test.choice.algorithm != Algorithm::NvlsTree || nranks == 4;
    if (choice.by_switch != has_nodes) return 2;
  }
  return run_cases(rank, cases, expected);
}

}  // namespace ringside
