#include "diag/job/completion_meaning.h"

#include <cstddef>
#include <iterator>

namespace ringside::job {
namespace {

constexpr CompletionMeaning kErrors[] = {
    {"local length error", "a message was longer than its buffer: ranks are out of step",
     "compare what both ends call there: sizes, NCCL_ALGO, NCCL_PROTO and versions of the ranks"},
    {"local queue pair error", "the queue pair is inconsistent",
     "firmware and driver of the adapter"},
    {"local EEC error", "obsolete", "firmware and driver of the adapter"},
    {"local protection error",
     "the local memory key or range is not valid: with GPUDirect often ACS, an IOMMU, or freed "
     "memory",
     "NCCL_NET_GDR_LEVEL=LOC on the host that reports it, to confirm; then iommu=pt, ACS off, a "
     "driver that fits nvidia-peermem"},
    {"flushed", "its queue had failed before: it follows another error",
     "look for the first failed completion before it, in the logs of both hosts"},
    {"memory window error", "a memory window could not be bound", "driver of the adapter"},
    {"bad response", "the peer answered nonsense", "firmware of both adapters"},
    {"local access error", "the local buffer may not be accessed",
     "NCCL_NET_GDR_LEVEL=LOC to confirm"},
    {"remote invalid request", "the peer refused the request: buffers or attributes do not match",
     "compare versions and variables of the two ranks; update the adapter's driver and firmware on "
     "both "
     "ends"},
    {"remote access error",
     "the peer's memory key or range is not valid: GPUDirect with ACS or an IOMMU, or a freed "
     "buffer",
     "NCCL_NET_GDR_LEVEL=LOC on the peer's host, to confirm; then iommu=pt and ACS off there"},
    {"remote operation error", "the peer's side failed: its GPU or PCIe",
     "read the peer's kernel log (dmesg, mlx5) and its process's own"},
    {"transport retries exhausted",
     "the peer's NIC did not answer: the peer died, a link or a switch path is lost, a wrong GID "
     "or route, or drops by PFC and ECN",
     "test the path between the two ends that the line names: ib_write_bw between them, ibstat and "
     "perfquery on both (symbol errors, link downs, discards), on RoCE the GID and PFC; see "
     "whether the "
     "peer's process still lived"},
    {"receiver not ready", "the peer posted no receive: it is stuck or slow",
     "take the stack of the peer's process (py-spy dump): it posts no receives"},
};

}  // namespace

const CompletionMeaning* meaning_of_completion(std::int64_t status) {
  const bool is_known = status >= 1 && status <= static_cast<std::int64_t>(std::size(kErrors));
  return is_known ? &kErrors[static_cast<std::size_t>(status) - 1] : nullptr;
}

}  // namespace ringside::job
