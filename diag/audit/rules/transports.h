#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/facts.h"

/// Queries on a job's transports that several rules use.
namespace ringside::audit {

/// Numbers of network connection lines with (gdr) and without (plain) GPUDirect RDMA.
struct NetEdges {
  std::uint64_t plain_sends = 0, plain_receives = 0;
  std::uint64_t gdr_sends = 0, gdr_receives = 0;
  /// Processes with only plain connections; sorted
  std::vector<std::uint32_t> plain_processes = {};

  [[nodiscard]] std::uint64_t plain() const { return plain_sends + plain_receives; }
  [[nodiscard]] std::uint64_t all() const { return plain() + gdr_sends + gdr_receives; }
};

/// Counts the connections between hosts over networks that support GPUDirect RDMA, of all communicators.
NetEdges net_edges(const JobFacts& facts);

/// Return whether any process lists RDMA devices, and whether any process found none.
bool lists_rdma_device(const JobFacts& facts);
bool lacks_rdma_device(const JobFacts& facts);

/// Returns whether the variable's value is enclosed in quotation marks, so that it matches no device or interface.
bool has_quotes(const Setting& setting);
/// Returns the value without quotation marks.
std::string without_quotes(std::string_view value);
inline constexpr std::string_view kQuotesCause =
    "the quotation marks are part of the value, which then matches nothing: docker --env-file, "
    "systemd and YAML lists take a value as it is written";

/// Returns whether the network is TCP, such as NCCL's `Socket`.
bool is_socket(std::string_view net);

/// Returns whether the network is a TCP plugin that is fast without GPUDirect RDMA, or does not log its use.
bool hides_gdr(std::string_view net);

/// Whether a rank sends data to another host over NET/Socket, or has no other network.
struct SocketUse {
  bool is_used = false;
  std::vector<std::uint32_t> processes = {};  ///< sorted
};
/// Returns the use of NET/Socket in the job.
SocketUse socket_use(const JobFacts& facts);

/// Returns the evidence that the hosts have a faster network than TCP, as a clause; empty if there is none.
std::string faster_fabric(const JobFacts& facts);

/// Returns whether interface names or variables show that the fabric needs a plugin instead of InfiniBand verbs.
bool wants_plugin(const JobFacts& facts);

/// The fabric of the libfabric plugin, by log lines, interface names and variables.
enum class OfiFabric : std::uint8_t { Unknown, Efa, Slingshot };
OfiFabric ofi_fabric(const JobFacts& facts);

/// Returns whether the number of hosts is unknown, because the text has only a few lines of the initialisation.
bool is_size_unknown(const JobFacts& facts);

/// Returns whether the initialisation of any communicator with several hosts completed.
bool has_joined_hosts(const JobFacts& facts);

/// Returns whether a line of the libfabric plugin reports a failure to open a device: it names the opened object, and
/// no communicator is complete.
bool fails_to_open(const JobFacts& facts, std::string_view text);

/// Returns whether the text is an adapter's event that a port went down or came up.
bool is_port_event(std::string_view text);

/// Returns whether the text reports that memory registration failed at the limit of locked memory.
bool is_memory_refused(std::string_view text);

/// Returns the connections within hosts, summed over all hosts.
LocalEdges local_edges(const JobFacts& facts);
/// Returns the connections by host, of communicators whose initialisation completed on all ranks.
std::map<std::int32_t, LocalEdges> local_edges_of_whole(const JobFacts& facts);

/// Returns a variable in the logs that limits the channels to `most` or fewer, or nullptr.
const Setting* channel_limit(const JobFacts& facts, int most = std::numeric_limits<int>::max());

/// Returns the largest number of ranks that one communicator has on one host.
int ranks_of_a_host(const JobFacts& facts);

/// Returns whether two ranks of a communicator use one GPU. NCCL accepts that only of ranks that it takes for different
/// hosts, such as those with different values of NCCL_HOSTID.
bool do_ranks_share_a_gpu(const CommFacts& comm);
bool do_ranks_share_a_gpu(const JobFacts& facts);

/// Returns the evidence that GPUs of a host are connected by NVLink, as a clause; empty if there is none.
std::string nvlink_sign(const JobFacts& facts);

/// Returns, by host, the sorted ranks whose connections within the host all use shared memory while most other GPUs of
/// that host have none. A PCIe topology would affect both ends of such a connection.
std::map<std::int32_t, std::vector<std::int32_t>> ranks_cut_off(const JobFacts& facts);

/// Returns whether the GPUs are on boards with NVLink between all pairs, from the A100 on.
bool has_switched_gpus(const JobFacts& facts);

/// Returns whether the GPUs are PCIe cards, mostly without NVLink: their peer access depends on their slots.
bool has_pcie_gpus(const JobFacts& facts);

/// Returns whether the GPUs are consumer GPUs, without NVLink and mostly without peer access over PCIe.
bool has_consumer_gpus(const JobFacts& facts);

/// Returns whether no rank names a GPU in its initialisation lines, which NCCL always does. Then the ranks use host
/// memory, so shared memory is not a fallback.
bool is_without_gpus(const JobFacts& facts);

}  // namespace ringside::audit
