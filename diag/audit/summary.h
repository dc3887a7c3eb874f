#pragma once

#include <map>
#include <string>
#include <vector>

#include "diag/audit/facts.h"

/// Short descriptions of the job for the text report, the HTML page and the comparison of two runs.
namespace ringside::audit {

/// Returns the name of a transport: "P2P/CUMEM", "SHM", "NET/IB/GDRDMA".
std::string transport_name(logs::Via via, bool has_gdr, const std::string& net);

/// Returns the number of connection lines by transport, of all communicators or of one.
std::map<std::string, std::uint64_t> transports_of(const JobFacts& facts);
std::map<std::string, std::uint64_t> transports_of(const JobFacts& facts, const CommFacts& comm);

/// Returns the library versions, separated by commas: "NCCL 2.20.5+cuda12.4", "RCCL 2.22.3"; "library 2.20.5" if only a
/// benchmark or a text names one; "unknown version".
std::string versions_text(const JobFacts& facts);

/// Returns the size of the job: "8 ranks on 2 hosts (node-a, node-b)", or "no communicator seen" with the hosts.
std::string size_text(const JobFacts& facts);

/// A list of network devices, `IB: mlx5_0 mlx5_1`, and the hosts with this list.
struct DeviceList {
  std::string net;
  std::vector<std::string> names = {};
  std::vector<std::string> hosts = {};
};
/// Returns the distinct device lists of the job.
std::vector<DeviceList> devices_of(const JobFacts& facts);

/// Returns a size with four significant digits, in steps of 2^10. nccl-tests rounds the requested size down to a multiple
/// of the ranks: the text is the requested size again, "16G" for 17179868160.
std::string near_size_text(std::uint64_t bytes);

/// Returns a bus id as text: "0000:5d:00.0".
std::string bus_text(std::int64_t bus_id);

}  // namespace ringside::audit
