#include <array>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {
namespace {

constexpr std::array kRules{
    Rule{"version_mismatch", "ranks with different libraries", "9.5 CONS-01; 1.4",
         look_for_versions},
    Rule{"plugin_missing", "network plugins: missing, incompatible, failing, crashing",
         "9.1 NET-03..05, NET-19..21; 2.3; 4.8", look_for_plugin_troubles},
    Rule{"no_rdma_device", "RDMA devices: none, or not to be opened", "9.1 NET-06; 2.4; 4.2",
         look_for_missing_devices},
    Rule{"p2p_disabled", "GPU peer-to-peer switched off or refused", "9.3 P2P-02, P2P-04; 1.9",
         look_for_p2p_off},
    Rule{"wrong_interface", "addresses that other hosts cannot reach", "9.1 NET-10, NET-11; 2.2",
         look_for_wrong_interface},
    Rule{"socket_fallback", "data over TCP between hosts", "9.1 NET-01; 4.8",
         look_for_socket_fallback},
    Rule{"gdr_missing", "NICs that do not reach GPU memory", "9.2 GDR-01..05; 2.6",
         look_for_missing_gdr},
    Rule{"shm_fallback", "host memory between GPUs of a host", "9.3 P2P-01; 2.9",
         look_for_shm_fallback},
    Rule{"few_channels", "fewer channels than the machine allows", "9.4 RING-03; 2.10",
         look_for_few_channels},
    Rule{"single_nic", "NICs that no channel uses", "9.4 RING-06; 2.12", look_for_unused_nics},
    Rule{"short_ring", "rings that are short or cross hosts too often",
         "9.4 RING-01, RING-02, RING-05; 2.12", look_for_odd_rings},
    Rule{"nvlink_missing", "GPUs without the NVLink that their class has", "9.3 P2P-11; 2.7",
         look_for_missing_nvlink},
    Rule{"asymmetric_config", "hosts or ranks that differ",
         "9.1 NET-02, NET-07; 9.2 GDR-04; 9.4 RING-04; 9.5 CONS-02", look_for_asymmetry},
    Rule{"duplicate_gpu", "two ranks on one GPU", "9.5 CONS-04", look_for_duplicate_gpus},
    Rule{"nvls_unavailable", "NVLink SHARP that fails or is missing", "9.4 NVLS-01..03; 4.4",
         look_for_nvls_troubles},
    Rule{"ipc_failed", "handles, pairs and domains that do not connect",
         "9.3 P2P-03; 9.4 MNNVL-01; 4.4", look_for_broken_handles},
    Rule{"env_override", "variables in force", "9.6; 1.9", look_for_overrides},
    Rule{"env_debug_in_production", "debugging left on", "9.6 ENV-05", look_for_debugging},
    Rule{"bootstrap_failure", "ranks that do not meet", "9.1 NET-13; 4.1",
         look_for_bootstrap_failures},
    Rule{"memlock_limit", "limits: locked memory, /dev/shm, open files",
         "9.1 NET-35, NET-36; 9.3 P2P-08; 4.2; 4.4", look_for_limits},
    Rule{"store_timeout", "a rendezvous that gave up", "9.8 PT-08..10; 5.6",
         look_for_store_timeouts},
    Rule{"slow_init", "communicators that start slowly", "9.7 INIT-02; 2.11", look_for_slow_starts},
    Rule{"xid_error", "faults of the GPU's driver", "9.9 HW-01..05; 8.1", look_for_gpu_faults},
    Rule{"cuda_error", "CUDA calls that fail", "9.7 INIT-09..12; 4.3", look_for_cuda_errors},
    Rule{"link_flap", "ports that go down and come up", "9.1 NET-29, NET-37; 4.2",
         look_for_link_flaps},
    Rule{"ib_error", "RDMA requests that fail", "9.1 NET-24..30; 4.2", look_for_ib_errors},
    Rule{"env_override", "calls that the library refuses", "9.4 ALGO-02; 9.5 CONS-13; 4.2; 4.5",
         look_for_refusals},
    Rule{"mismatched_collective", "calls that differ between ranks",
         "9.5 CONS-11; 9.8 PT-04; 3.1; 5.5", look_for_mismatches},
    Rule{"hang_dead_rank", "processes that died", "9.8 PT-12, PT-14; 5.7; 8.5",
         look_for_dead_ranks},
    Rule{"pcie_acs", "peer-to-peer over PCIe that does not deliver", "9.3 P2P-12",
         look_for_pcie_acs},
    Rule{"collective_timeout", "watchdogs, and whom they wait for",
         "9.8 PT-01..03, PT-21, PT-22; 5.2", look_for_timeouts},
    Rule{"low_bandwidth", "tables of nccl-tests", "9.9 PERF-01, PERF-02; 7.4", look_at_tables},
    Rule{"remote_closed", "connections that a peer closed", "9.1 NET-14; 9.10",
         look_for_closed_peers},
    Rule{"system_error", "failures without a reason in the log", "9.7 INIT-08",
         look_for_unexplained_errors},
    Rule{"teardown_noise", "lines that look alarming and are not the fault", "9.10; 4.6; 4.7",
         look_for_noise},
};

}  // namespace

std::span<const Rule> all_rules() { return kRules; }

}  // namespace ringside::audit
