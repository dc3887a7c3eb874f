#pragma once

#include <map>
#include <string>
#include <vector>

#include "diag/audit/facts.h"

/// A short description of the job, for the text, the page and the comparison of two runs.
namespace ringside::audit {

/// "P2P/CUMEM", "SHM", "NET/IB/GDRDMA"
std::string transport_name(logs::Via via, bool has_gdr, const std::string& net);

/// Connections by transport, of all communicators: lines.
std::map<std::string, std::uint64_t> transports_of(const JobFacts& facts);
std::map<std::string, std::uint64_t> transports_of(const JobFacts& facts, const CommFacts& comm);

/// "NCCL 2.20.5+cuda12.4", "RCCL 2.22.3"; several with a comma between.
std::string versions_text(const JobFacts& facts);

/// "8 ranks on 2 hosts (node-a, node-b)"
std::string size_text(const JobFacts& facts);

/// `IB: mlx5_0 mlx5_1` and how many hosts list it.
struct DeviceList {
  std::string net;
  std::vector<std::string> names = {};
  std::vector<std::string> hosts = {};
};
std::vector<DeviceList> devices_of(const JobFacts& facts);

/// Bytes as the user asked for them: nccl-tests rounds down to a multiple of the ranks. 16G for 17179868160.
std::string near_size_text(std::uint64_t bytes);

/// 0000:5d:00.0
std::string bus_text(std::int64_t bus_id);

}  // namespace ringside::audit
