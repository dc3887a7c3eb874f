#include "diag/audit/rules/words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diag/audit/findings.h"

namespace ringside::audit {
namespace {

constexpr std::string_view kCounters =
    "ibstat on both ends; perfquery: symbol errors, link downs, discards";

constexpr std::array kStatuses{
    WorkStatus{"success", "", ""},
    WorkStatus{"local length error", "a message was longer than its buffer: ranks are out of step",
               "compare sizes, NCCL_ALGO, NCCL_PROTO and versions of the ranks"},
    WorkStatus{"local queue pair error", "the queue pair is inconsistent",
               "firmware and driver of the adapter"},
    WorkStatus{"local EEC error", "obsolete", ""},
    WorkStatus{"local protection error",
               "the local memory key or range is not valid: with GPUDirect often ACS, an IOMMU, or "
               "freed memory",
               "NCCL_NET_GDR_LEVEL=LOC to confirm; then iommu=pt, ACS off, a driver that fits "
               "nvidia-peermem"},
    WorkStatus{"flushed", "follows another error", "look for the first error"},
    WorkStatus{"memory window error", "a memory window could not be bound",
               "driver of the adapter"},
    WorkStatus{"bad response", "the peer answered nonsense", "firmware of both adapters"},
    WorkStatus{"local access error", "the local buffer may not be accessed",
               "NCCL_NET_GDR_LEVEL=LOC to confirm"},
    WorkStatus{"remote invalid request",
               "the peer refused the request: buffers or attributes do not match",
               "compare versions and variables of the two ranks"},
    WorkStatus{"remote access error",
               "the peer's memory key or range is not valid: GPUDirect with ACS or an IOMMU, or a "
               "freed buffer",
               "NCCL_NET_GDR_LEVEL=LOC to confirm; then iommu=pt and ACS off at the peer"},
    WorkStatus{"remote operation error", "the peer's side failed: its GPU or PCIe",
               "dmesg at the peer"},
    WorkStatus{"transport retries exhausted",
               "the peer's NIC did not answer: the peer died, a link or a switch path is lost, a "
               "wrong GID or route, "
               "or drops by PFC and ECN",
               kCounters},
    WorkStatus{"receiver not ready", "the peer posted no receive: it is stuck or slow",
               "look at what the peer does"},
};

}  // namespace

WorkStatus meaning_of_status(std::int64_t status) {
  if (status >= 0 && static_cast<std::size_t>(status) < kStatuses.size()) {
    return kStatuses[static_cast<std::size_t>(status)];
  }
  return {"another error", "the transport reports an error", kCounters};
}

bool is_memory_refused(std::string_view text) {
  const bool is_refused = contains_any(text, {"Cannot allocate", "RC: -12", "ENOMEM"});
  return is_refused && contains_any(text, {"ibv_reg_", "ibv_create_", "ibv_alloc_",
                                           "register memory", "register MR", "fi_mr_reg"});
}

bool is_port_event(std::string_view text) {
  const std::string low = lower_case(text);
  return contains_any(low, {"port error", "port_err", "port active", "port_active"});
}

std::string_view value_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view value = text.substr(at + key.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value.substr(0, value.find_first_of(", "));
}

}  // namespace ringside::audit
