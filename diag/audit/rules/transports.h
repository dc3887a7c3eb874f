#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/facts.h"

/// Questions that several rules ask of a job's transports.
namespace ringside::audit {

/// Lines of network connections, by what they say of GPUDirect.
struct NetEdges {
  std::uint64_t plain_sends = 0, plain_receives = 0;
  std::uint64_t gdr_sends = 0, gdr_receives = 0;
  std::vector<std::uint32_t> plain_processes = {};  ///< that say nothing but plain ones; sorted

  [[nodiscard]] std::uint64_t plain() const { return plain_sends + plain_receives; }
  [[nodiscard]] std::uint64_t all() const { return plain() + gdr_sends + gdr_receives; }
};

/// Connections between hosts over networks that can do GPUDirect, of all communicators.
NetEdges net_edges(const JobFacts& facts);

/// Some process lists RDMA devices; some process found none.
bool lists_rdma_device(const JobFacts& facts);
bool lacks_rdma_device(const JobFacts& facts);

/// The variable's value has quotation marks in it, which match no device and no interface.
bool has_quotes(const Setting& setting);
std::string without_quotes(std::string_view value);
inline constexpr std::string_view kQuotesCause =
    "the quotation marks are part of the value, which then matches nothing: docker --env-file, "
    "systemd and YAML lists take a value as it is written";

/// Plain TCP, as NCCL's own `Socket` network.
bool is_socket(std::string_view net);

/// TCP of a kind that needs no GPUDirect to be fast, or does not say it in these lines.
bool hides_gdr(std::string_view net);

/// Some rank moves data to another host over NET/Socket, or could but over it alone.
struct SocketUse {
  bool is_used = false;
  std::vector<std::uint32_t> processes = {};  ///< sorted
};
SocketUse socket_use(const JobFacts& facts);

/// What tells that the machines have a better network than TCP; empty: nothing does.
std::string faster_fabric(const JobFacts& facts);

/// Names of interfaces or variables say that the fabric is not InfiniBand's verbs but a plugin's.
bool wants_plugin(const JobFacts& facts);

/// Whose fabric libfabric's plugin drives, as far as lines, interfaces and variables tell.
enum class OfiFabric : std::uint8_t { Unknown, Efa, Slingshot };
OfiFabric ofi_fabric(const JobFacts& facts);

/// Nothing says on how many hosts the job runs: a few lines of a start.
bool is_size_unknown(const JobFacts& facts);

/// Some communicator over several hosts was completed.
bool has_joined_hosts(const JobFacts& facts);

/// A line of libfabric's plugin is of its start: it names what is opened, and no communicator is complete.
bool fails_to_open(const JobFacts& facts, std::string_view text);

/// An adapter's event of a port that went down or came up.
bool is_port_event(std::string_view text);

/// A registration of memory that the kernel refuses for want of it: the limit of locked memory, whoever asks.
bool is_memory_refused(std::string_view text);

/// Of all hosts.
LocalEdges local_edges(const JobFacts& facts);
/// By host, of communicators whose ranks all finished their start.
std::map<std::int32_t, LocalEdges> local_edges_of_whole(const JobFacts& facts);

/// A variable that the logs echo and that bounds channels, by `most` or less; nullptr: none.
const Setting* channel_limit(const JobFacts& facts, int most = std::numeric_limits<int>::max());

/// The most ranks of one communicator on one host.
int ranks_of_a_host(const JobFacts& facts);

/// What tells that the GPUs of a host are joined by NVLink; empty: nothing does.
std::string nvlink_sign(const JobFacts& facts);

/// Ranks whose every connection within their host goes through shared memory while most GPUs of that host
/// have none that does: neighbours on PCIe would share the detour at both of its ends.
/// returns  by host, sorted
std::map<std::int32_t, std::vector<std::int32_t>> ranks_cut_off(const JobFacts& facts);

/// GPUs of boards on which all pairs are joined by NVLink, from the A100 on.
bool has_switched_gpus(const JobFacts& facts);

/// GPUs on cards, which mostly have no NVLink: whether they have peer access is a matter of their slots.
bool has_pcie_gpus(const JobFacts& facts);

/// GPUs of a class that has neither NVLink nor, mostly, peer access over PCIe.
bool has_consumer_gpus(const JobFacts& facts);

/// All ranks that have named themselves did so without a GPU, where every NCCL names one: host memory is what
/// they work on, and no fallback.
bool is_without_gpus(const JobFacts& facts);

}  // namespace ringside::audit
