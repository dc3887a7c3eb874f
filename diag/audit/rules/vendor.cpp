#include <algorithm>
#include <array>
#include <string_view>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {
namespace {

struct Phrase {
  std::string_view nvidias, amds;
};

/// Pairs of phrases: advice about one vendor's tool, and the other vendor's equivalent. Longer phrases precede the
/// phrases that they contain.
/// source  rocm-smi --help; ROCm's documentation of HIP_VISIBLE_DEVICES and AMD_SERIALIZE_KERNEL; RCCL
///         src/transport/net_ib.cc (memory_peers/amdkfd) and src/misc/rocmwrap.cc (NCCL_DMABUF_ENABLE)
constexpr Phrase kPhrases[] = {
    {"nvidia-smi topo -m", "rocm-smi --showtopo"},
    {"nvidia-smi topo -p2p r", "rocm-smi --showtopo"},
    {"nvidia-smi topo -p2p n", "rocm-smi --showtopo"},
    {"nvidia-smi nvlink -s", "rocm-smi --showxgmierr"},
    {"nvidia-smi nvlink -e", "rocm-smi --showxgmierr"},
    {"nvidia-smi -q -d ECC", "rocm-smi --showrasinfo"},
    {"nvidia-smi -L", "rocm-smi --showid"},
    {"nvidia-smi -r", "rocm-smi --gpureset"},
    {"nvidia-smi", "rocm-smi"},
    {"modprobe nvidia-peermem",
     "NCCL_DMABUF_ENABLE=1, or a driver of the NIC that knows "
     "/sys/kernel/mm/memory_peers/amdkfd"},
    {"for Xid lines", "for amdgpu lines"},
    {"CUDA_LAUNCH_BLOCKING=1", "AMD_SERIALIZE_KERNEL=3"},
    {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"},
    {"--gpus all", "--device=/dev/kfd --device=/dev/dri"},
};

/// Advice that lists several fabrics is shortened to those that the job has.
constexpr Phrase kSlingshot{"on Slingshot FI_CXI_*, ", ""};

void replace_all(std::string& text, const Phrase& phrase) {
  for (std::size_t at = text.find(phrase.nvidias); at != std::string::npos;
       at = text.find(phrase.nvidias, at + phrase.amds.size())) {
    text.replace(at, phrase.nvidias.size(), phrase.amds);
  }
}

/// Returns whether RCCL or ROCm is in use.
bool is_of_amd(const JobFacts& facts) {
  return !facts.plain_of(PlainLine::AmdWord).evidence.empty() ||
         std::any_of(facts.version_facts.begin(), facts.version_facts.end(),
                     [](const auto& entry) { return entry.second.is_rccl; }) ||
         std::any_of(facts.comms.begin(), facts.comms.end(),
                     [](const CommFacts& comm) { return comm.is_rccl; });
}

}  // namespace

void name_tools_of_vendor(const JobFacts& facts, Finding& finding) {
  if (ofi_fabric(facts) != OfiFabric::Slingshot) replace_all(finding.fix, kSlingshot);
  if (!is_of_amd(facts)) return;
  for (const Phrase& phrase : kPhrases) {
    replace_all(finding.cause, phrase);
    replace_all(finding.fix, phrase);
  }
}

}  // namespace ringside::audit
