#include "engine/transport/rdma/rdma_failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/verbs_status.h"

namespace ringside {
namespace {

/// The cause of a completion's status, whose name verbs_status_name() gives.
struct WorkStatus {
  int number;
  const char* cause;
};

constexpr const char* kUnreachable =
    "no acknowledgement came, however often it was sent again: the peer's host or process is down, "
    "a link or "
    "switch between them is, packets are dropped, or the GID leads elsewhere (see ip link, "
    "ibv_devinfo, "
    "rdma link, firewalls for UDP port 4791; NCCL_IB_GID_INDEX, NCCL_IB_HCA)";
constexpr const char* kOwnFault = "an error in this program: please report it with this line";

/// source  the numbers of rdma-core's ibv_wc_status; docs/formats/nccl-warnings.md
constexpr std::array kStatuses{
    WorkStatus{1, kOwnFault},
    WorkStatus{2, kOwnFault},
    WorkStatus{3, kOwnFault},
    WorkStatus{4, "the memory is no longer registered on this side"},
    WorkStatus{5,
               "the queue pair had failed before, or its port or device went away: look for an "
               "earlier line "
               "of this device, and at ip link and rdma link"},
    WorkStatus{6, kOwnFault},
    WorkStatus{7, "the peer answered with nonsense: look at its adapter"},
    WorkStatus{8, "the memory does not allow it on this side"},
    WorkStatus{
        9,
        "the peer's adapter refused the request: its process has probably ended this connection"},
    WorkStatus{10, "the peer's memory is no longer registered there"},
    WorkStatus{11, "the peer's adapter could not do it: look at that host"},
    WorkStatus{12, kUnreachable},
    WorkStatus{13, "the peer is there but does not take what is sent"},
    WorkStatus{14, kOwnFault},
    WorkStatus{15, kOwnFault},
    WorkStatus{16, "the peer gave the request up"},
    WorkStatus{17, kOwnFault},
    WorkStatus{18, kOwnFault},
    WorkStatus{19, "the adapter failed: look at this host's kernel log"},
    WorkStatus{20, kUnreachable},
    WorkStatus{21, "the adapter failed: look at this host's kernel log"},
};

/// Bytes of a RoCE v2 packet besides its payload: base header (12), RDMA's (16), immediate (4), checksum (4), UDP (8);
/// ping's own 8 bytes replace UDP's.
constexpr int kRoceHeaders = 36;

/// Returns the help for a peer that does not acknowledge, with the packet size that may be too large for the path.
std::string help_for_unreachable(const RdmaPath& path) {
  if (path.mtu == 0) return kUnreachable;
  return fmt::format(
      "{}; packets carry up to {} bytes here: if a link or switch on the way takes shorter ones, "
      "its "
      "MTU is too small (ip link, ping -M do -s {} HOST)",
      kUnreachable, path.mtu, path.mtu + kRoceHeaders);
}

std::string text_of(const RdmaPath& path) {
  return fmt::format("localGid {} remoteGid {} qp {} to {} hca {} to {}", to_string(path.local),
                     to_string(path.remote), path.queue, path.remote_queue, path.device,
                     path.remote_device);
}

const WorkStatus* find_status(int number) {
  const auto found = std::ranges::find(kStatuses, number, &WorkStatus::number);
  return found == kStatuses.end() ? nullptr : &*found;
}

const char* cause_of_connect(int number) {
  switch (number) {
    case ETIMEDOUT:
      return "the other GID's address does not answer: it is on another network (rails that are "
             "not joined), or "
             "neighbour discovery fails; try to ping it, see NCCL_IB_HCA and NCCL_IB_GID_INDEX";
    case ENETUNREACH:
    case EHOSTUNREACH:
      return "there is no route from this GID's address to the other's: see ip route, "
             "NCCL_IB_GID_INDEX";
    case EINVAL:
      return "the GIDs are of two kinds (RoCE versions, IPv4 and IPv6, InfiniBand and RoCE) or the "
             "index is "
             "none: unset NCCL_IB_GID_INDEX, so that it is chosen, and see that all hosts' ports "
             "are alike";
    default:
      return "see rdma link and this host's kernel log";
  }
}

}  // namespace

Error rdma_completion_error(int status, std::uint32_t vendor, bool is_send, const RdmaPath& path) {
  const WorkStatus* const known = find_status(status);
  const bool is_silent = status == 12 || status == 20;
  const bool is_over =
      status == 5 || status == 9 || status == 10 || status == 11 || status == 13 || status == 16;
  return {
      is_silent ? ErrorCode::Unreachable
      : is_over ? ErrorCode::PeerGone
                : ErrorCode::System,
      fmt::format("NET/IB: Got completion from peer {} with status={}({}) opcode={} vendor_err={} "
                  "req_type={} {}",
                  path.peer, verbs_status_name(status), status,
                  is_send ? "IBV_WC_RDMA_WRITE(1)" : "IBV_WC_RECV_RDMA_WITH_IMM(129)", vendor,
                  is_send ? "Send" : "Recv", text_of(path)),
      known == nullptr ? "a status that rdma-core does not list"
      : is_silent      ? help_for_unreachable(path)
                       : known->cause};
}

Error rdma_unacknowledged_error(Seconds waited, const RdmaPath& path) {
  return {
      ErrorCode::Unreachable,
      fmt::format("NET/IB: peer {} has acknowledged nothing for {:.0f} s, and the adapter does not "
                  "give up: {}",
                  path.peer, waited.count(), text_of(path)),
      help_for_unreachable(path)};
}

Error with_answering_host(Error error) {
  error.message +=
      "; its host answers over TCP, so RDMA's packets alone are lost: the MTU differs on the way, "
      "or UDP port 4791 is dropped, or an adapter was removed (rdma link, on both hosts), or the "
      "port or GID leads elsewhere";
  return error;
}

Error rdma_connect_error(int number, const char* from, const char* to, const RdmaPath& path) {
  return {ErrorCode::System,
          fmt::format(
              "Call to ibv_modify_qp failed with {} {}, on dev {}, curr state {}, next state {}, "
              "local GID index {}, local GID {}, remote GID {}",
              number, std::strerror(number), path.device, from, to, path.gid_index,
              to_string(path.local), to_string(path.remote)),
          cause_of_connect(number)};
}

Error rdma_memory_error(int number, std::size_t bytes, std::uint64_t limit,
                        const std::string& device) {
  const std::string now =
      limit == ~std::uint64_t{0} ? "unlimited" : fmt::format("{} KiB", limit >> 10);
  const bool is_limit = number == ENOMEM || number == EPERM || number == EAGAIN;
  return {ErrorCode::System,
          fmt::format("Call to ibv_reg_mr failed with error {}: {} bytes on {}; memory that may be "
                      "locked (ulimit -l): {}",
                      std::strerror(number), bytes, device, now),
          is_limit ? "raise it: ulimit -l unlimited, memlock in /etc/security/limits.conf, "
                     "LimitMEMLOCK= of the "
                     "service, or --ulimit memlock=-1 of the container"
                   : "see this host's kernel log"};
}

}  // namespace ringside
