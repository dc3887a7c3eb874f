#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/facts.h"

/// Questions that several rules ask of a job's transports.
namespace ringside::audit {

/// Lines of network connections, by their GPUDirect state.
struct NetEdges {
  std::uint64_t plain_sends = 0, plain_receives = 0;
  std::uint64_t gdr_sends = 0, gdr_receives = 0;
  std::vector<std::uint32_t> plain_processes = {};  ///< that print only plain ones; sorted

  [[nodiscard]] std::uint64_t plain() const { return plain_sends + plain_receives; }
  [[nodiscard]] std::uint64_t all() const { return plain() + gdr_sends + gdr_receives; }
};

/// Connections between hosts over networks that can do GPUDirect, of all communicators.
NetEdges net_edges(const JobFacts& facts);

/// Whether some process lists RDMA devices; whether some process found none.
bool lists_rdma_device(const JobFacts& facts);
bool lacks_rdma_device(const JobFacts& facts);

/// Whether the variable's value contains quotation marks, which match no device and no interface.
bool has_quotes(const Setting& setting);
std::string without_quotes(std::string_view value);
inline constexpr std::string_view kQuotesCause =
    "the quotation marks are part of the value, which then matches nothing: docker --env-file, "
    "systemd and YAML lists take a value as it is written";

/// Plain TCP, as NCCL's own `Socket` network.
bool is_socket(std::string_view net);

/// TCP of a kind that needs no GPUDirect to be fast, or does not print it in these lines.
bool hides_gdr(std::string_view net);

/// Whether some rank moves data to another host over NET/Socket, or has no other choice.
struct SocketUse {
  bool is_used = false;
  std::vector<std::uint32_t> processes = {};  ///< sorted
};
SocketUse socket_use(const JobFacts& facts);

/// The evidence that the machines have a better network than TCP; empty: none.
std::string faster_fabric(const JobFacts& facts);

/// Whether names of interfaces or variables show that the fabric needs a plugin instead of InfiniBand's verbs.
bool wants_plugin(const JobFacts& facts);

/// The fabric that libfabric's plugin drives, by lines, interfaces and variables.
enum class OfiFabric : std::uint8_t { Unknown, Efa, Slingshot };
OfiFabric ofi_fabric(const JobFacts& facts);

/// Whether the number of hosts of the job is unknown: the text has only a few lines of a start.
bool is_size_unknown(const JobFacts& facts);

/// Some communicator over several hosts was completed.
bool has_joined_hosts(const JobFacts& facts);

/// Whether a line of libfabric's plugin is of its start: it names what is opened, and no communicator is complete.
bool fails_to_open(const JobFacts& facts, std::string_view text);

/// Whether it is an adapter's event of a port that went down or came up.
bool is_port_event(std::string_view text);

/// Whether the kernel refuses to register memory for lack of it: the limit of locked memory.
bool is_memory_refused(std::string_view text);

/// Sums over all hosts.
LocalEdges local_edges(const JobFacts& facts);
/// By host, of communicators whose ranks all finished their start.
std::map<std::int32_t, LocalEdges> local_edges_of_whole(const JobFacts& facts);

/// A variable that the logs echo and that limits channels to `most` or fewer; nullptr: none.
const Setting* channel_limit(const JobFacts& facts, int most = std::numeric_limits<int>::max());

/// The most ranks of one communicator on one host.
int ranks_of_a_host(const JobFacts& facts);

/// The evidence that the GPUs of a host are joined by NVLink; empty: none.
std::string nvlink_sign(const JobFacts& facts);

/// Ranks whose every connection within their host goes through shared memory while most GPUs of that host have none
/// that does: neighbours on PCIe would share the detour at both of its ends.
/// returns  by host, sorted
std::map<std::int32_t, std::vector<std::int32_t>> ranks_cut_off(const JobFacts& facts);

/// GPUs of boards on which all pairs are joined by NVLink, from the A100 on.
bool has_switched_gpus(const JobFacts& facts);

/// GPUs on cards, which mostly have no NVLink: whether they have peer access is a matter of their slots.
bool has_pcie_gpus(const JobFacts& facts);

/// GPUs of a class that has neither NVLink nor, mostly, peer access over PCIe.
bool has_consumer_gpus(const JobFacts& facts);

/// Whether all ranks that have printed their device did so without a GPU, where every NCCL names one: then they work
/// on host memory, and it is no fallback.
bool is_without_gpus(const JobFacts& facts);

}  // namespace ringside::audit
