#pragma once

#include <span>
#include <string_view>

#include "diag/audit/findings.h"

namespace ringside::audit {

/// One row of the table: what it looks for, and where the reason stands.
struct Rule {
  std::string_view id;         ///< of its findings
  std::string_view looks_for;  ///< one line
  std::string_view reference;  ///< sections and rules of docs/formats, or a vendor's page
  void (*look)(const JobFacts& facts, Findings& findings);
};

/// Every rule, in the order in which they look: what may be a cause before what may follow from it.
std::span<const Rule> all_rules();

// Network: rules/network.cpp
void look_for_plugin_troubles(const JobFacts& facts, Findings& findings);
void look_for_missing_devices(const JobFacts& facts, Findings& findings);
void look_for_socket_fallback(const JobFacts& facts, Findings& findings);
/// A few lines of a start, without communicators or connections: the library says what it would send over.
void look_for_sockets_in_an_excerpt(const JobFacts& facts, Findings& findings);
void look_for_unused_nics(const JobFacts& facts, Findings& findings);
// GPUDirect: rules/gpudirect.cpp
void look_for_missing_gdr(const JobFacts& facts, Findings& findings);
// Addresses that others cannot reach: rules/interfaces.cpp
void look_for_wrong_interface(const JobFacts& facts, Findings& findings);
// Within a host: rules/local.cpp
void look_for_p2p_off(const JobFacts& facts, Findings& findings);
void look_for_shm_fallback(const JobFacts& facts, Findings& findings);
void look_for_local_sockets(const JobFacts& facts, Findings& findings);
void look_for_pcie_acs(const JobFacts& facts, Findings& findings);
void look_for_missing_nvlink(const JobFacts& facts, Findings& findings);
void look_for_nvls_troubles(const JobFacts& facts, Findings& findings);
void look_for_broken_handles(const JobFacts& facts, Findings& findings);
// Rings and channels: rules/rings.cpp
void look_for_few_channels(const JobFacts& facts, Findings& findings);
void look_for_odd_rings(const JobFacts& facts, Findings& findings);
// Channels against what the release lays: rules/channel_counts.cpp
void look_for_fewer_channels(const JobFacts& facts, Findings& findings);
// Ranks that differ: rules/consistency.cpp
void look_for_asymmetry(const JobFacts& facts, Findings& findings);
void look_for_versions(const JobFacts& facts, Findings& findings);
void look_for_duplicate_gpus(const JobFacts& facts, Findings& findings);
// Where NICs and threads are: rules/placement.cpp
void look_for_crossed_rails(const JobFacts& facts, Findings& findings);
void look_for_bound_threads(const JobFacts& facts, Findings& findings);
// Who comes and goes: rules/lives.cpp
void look_for_absent_ranks(const JobFacts& facts, Findings& findings);
void look_for_leaks(const JobFacts& facts, Findings& findings);
// Variables: rules/variables.cpp
void look_for_overrides(const JobFacts& facts, Findings& findings);
void look_for_debugging(const JobFacts& facts, Findings& findings);
// Start: rules/start.cpp
void look_for_bootstrap_failures(const JobFacts& facts, Findings& findings);
void look_for_limits(const JobFacts& facts, Findings& findings);
void look_for_store_timeouts(const JobFacts& facts, Findings& findings);
void look_for_slow_starts(const JobFacts& facts, Findings& findings);
void look_for_unexplained_errors(const JobFacts& facts, Findings& findings);
// One line that says it all: rules/refusals.cpp, rules/reasons.cpp
void look_for_refusals(const JobFacts& facts, Findings& findings);
void look_for_reasons(const JobFacts& facts, Findings& findings);
// Links slower than any device has: rules/declared_links.cpp
void look_for_slow_links(const JobFacts& facts, Findings& findings);
// Releases that are too old for the GPUs: rules/releases.cpp
void look_for_old_releases(const JobFacts& facts, Findings& findings);
// Machines: rules/machines.cpp
void look_for_gpu_faults(const JobFacts& facts, Findings& findings);
void look_for_link_flaps(const JobFacts& facts, Findings& findings);
// Rates of ports: rules/port_speeds.cpp
void look_for_slow_ports(const JobFacts& facts, Findings& findings);
// GPUs and adapters that fail: rules/gpu_errors.cpp, rules/ib_errors.cpp
void look_for_cuda_errors(const JobFacts& facts, Findings& findings);
void look_for_ib_errors(const JobFacts& facts, Findings& findings);
// Hangs: rules/hangs.cpp, rules/deaths.cpp, rules/mismatches.cpp
void look_for_mismatches(const JobFacts& facts, Findings& findings);
void look_for_dead_ranks(const JobFacts& facts, Findings& findings);
void look_for_timeouts(const JobFacts& facts, Findings& findings);
void look_for_closed_peers(const JobFacts& facts, Findings& findings);
// Tables of nccl-tests: rules/tables.cpp
void look_at_tables(const JobFacts& facts, Findings& findings);
// What rows of the catalogue state, and no rule has spoken of: rules/stated.cpp
void look_for_stated_warnings(const JobFacts& facts, Findings& findings);
// What was not read: rules/unread.cpp
void look_for_unread_lines(const JobFacts& facts, Findings& findings);
// What no finding speaks of: rules/unspoken.cpp
void look_for_unspoken_warnings(const JobFacts& facts, Findings& findings);
// Lines that were cut: rules/cut_lines.cpp
void look_for_cut_lines(const JobFacts& facts, Findings& findings);

}  // namespace ringside::audit
