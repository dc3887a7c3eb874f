#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace ringside {

/// Writes a small record: one host of two GPUs, measured at two sizes; a system of quality C, and one without a
/// description.
inline void write_published(const std::filesystem::path& folder,
                            const std::string& more_rows = "") {
  std::filesystem::create_directories(folder / "machines");
  std::ofstream(folder / "systems.csv") << "system_id,gpu,network,tool,quality\n"
                                           "two-h100,H100,\"none, one node\",nccl-tests -g 1,A\n"
                                           "guessed,?,none,?,C\n"
                                           "unknown,?,none,?,A\n";
  std::ofstream(folder / "measured.csv")
      << "system_id,collective,ranks,nodes,algo,proto,nchannels,dtype,placement,size_bytes,time_us,"
         "nccl_version,note\n"
         "two-h100,AllReduce,2,1,auto,auto,,float,oop,1024,12.5,2.27.7,\n"
         "two-h100,AllReduce,2,1,auto,auto,,float,oop,268435456,800,2.27.7,\"quoted, with a "
         "comma\"\n"
         "guessed,AllReduce,2,1,auto,auto,,float,oop,1024,12.5,2.27.7,\n"
         "unknown,AllReduce,2,1,auto,auto,,float,oop,1024,12.5,2.27.7,\n"
      << more_rows;
  std::ofstream(folder / "machines" / "two-h100.yaml")
      << "ringside: host/1\n"
         "name: two-h100\n"
         "cpu: {arch: x86_64, vendor: GenuineIntel, family: 6, model: 143}\n"
         "kinds:\n"
         "  gpu: {is: gpu, pcie: gen5 x16, id: 10de:2330, sm: 90, nvswitches: [05:00.0 x18]}\n"
         "tree:\n"
         "- numa 0: [gpu 0 1b:00.0, gpu 1 43:00.0]\n";
}

}  // namespace ringside
