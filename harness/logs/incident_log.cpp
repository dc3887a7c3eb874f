#include "harness/logs/incident_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/debuglog/warning_text.h"
#include "harness/logs/noise.h"

namespace ringside {
namespace {

/// The range of ephemeral ports in which a rank's port lies.
/// source  net.ipv4.ip_local_port_range of Linux: 32768 to 60999
constexpr int kFirstPort = 32'768;
constexpr int kPorts = 28'000;
/// A root's port is one of a thousand from this one on.
constexpr int kFirstRootPort = 20'000;

constexpr int kSharedSegment = 9637888;  ///< bytes: the buffers of one connection
constexpr int kRetriesExhausted = 12;    ///< status of a completion

using Kind = LogPhase::Kind;

/// Returns the phase in which an incident occurs, in the communicator of all ranks.
Kind phase_of(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::None:
    case IncidentKind::OpenDevice:
      return Kind::Begin;
    case IncidentKind::NoRoute:
    case IncidentKind::OtherVersion:
    case IncidentKind::DuplicateGpu:
      return Kind::Start;
    case IncidentKind::ShortRing:
      return Kind::Graphs;
    case IncidentKind::NvlsBind:
    case IncidentKind::ShmFull:
    case IncidentKind::Memlock:
    case IncidentKind::BadGid:
    case IncidentKind::CudaMemory:
      return Kind::Connect;
    case IncidentKind::Completion:
    case IncidentKind::LinkFlap:
      return Kind::Run;
  }
  return Kind::Run;
}

const LogProcess& process_of(const RankView& rank) {
  return rank.job.processes()[static_cast<std::size_t>(rank.process)];
}

/// Returns the process of another rank of the communicator.
const LogProcess& process_of(const RankView& rank, int other) {
  const int process = rank.communicator->members[static_cast<std::size_t>(other)];
  return rank.job.processes()[static_cast<std::size_t>(process)];
}

/// Returns whether the incident is on the rank's host, or on all hosts.
bool is_struck(const RankView& rank) {
  const int host = rank.job.request().incident.host;
  return host < 0 || process_of(rank).host == host;
}

/// Returns whether all ranks have one communicator in the generation. Incidents occur in that one.
bool is_of_all(const LogJob& job, int generation) {
  const auto& communicators = job.generations()[static_cast<std::size_t>(generation)].communicators;
  return communicators.size() == 1 &&
         communicators.front().members.size() == job.processes().size();
}

int port_of(const RankView& rank) {
  const std::uint64_t drawn =
      noise(rank.job.request().seed, kPort, static_cast<std::uint64_t>(rank.process));
  return kFirstPort + static_cast<int>(drawn % kPorts);
}

const NetInterface& interface_of_rank(const RankView& rank, int other) {
  return rank.job.host_of(rank.communicator->members[static_cast<std::size_t>(other)]).interface;
}

void write_no_route(const RankView& rank, DebugLog& log) {
  const NetInterface& root = rank.job.hosts().front().interface;
  const std::string& error = rank.job.request().incident.detail;
  const LineThread thread = rank.init_thread();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    log.info(thread, connect_retry_text(rank.version(), error, attempt));
  }
  write_warning(
      log, thread,
      connect_warning(rank.version(), root,
                      kFirstRootPort + static_cast<int>(rank.job.request().seed % 1000), error));
}

void write_other_version(const RankView& rank, DebugLog& log) {
  // Every rank compares the other ranks with itself and names the first that differs.
  const auto& members = rank.communicator->members;
  const auto other = std::ranges::find_if(members, [&rank](int process) {
    return rank.job.host_of(process).version != rank.version();
  });
  if (other == members.end()) return;
  write_warning(log, rank.init_thread(),
                other_version_warning(rank.version(), rank.rank, rank.job.host_of(*other).version,
                                      static_cast<int>(other - members.begin())));
}

/// The second process of the affected host uses the GPU of the first.
void write_duplicate_gpu(const RankView& rank, DebugLog& log) {
  const int local = process_of(rank).local;
  if (local > 1) return;
  const int first = rank.rank - local;
  const int other = local == 0 ? rank.rank + 1 : first;
  write_warning(log, rank.init_thread(),
                duplicate_gpu_warning(rank.version(), rank.rank, other,
                                      connection_end(rank.layout(), first).bus_id));
}

void write_completion(const RankView& rank, DebugLog& log) {
  // The ranks that send to the affected host find that it does not respond.
  const LogRequest& request = rank.job.request();
  const int next = rank.layout().in_ring(0, rank.rank, 1);
  const int host = process_of(rank, next).host;
  if (host != request.incident.host || host == process_of(rank).host) return;
  write_warning(log, rank.proxy_thread(),
                completion_warning(rank.version(), interface_of_rank(rank, next), port_of(rank),
                                   kRetriesExhausted, request.incident.device));
}

void write_link_flap(const RankView& rank, DebugLog& log) {
  if (!is_struck(rank)) return;
  const LineThread events{rank.proxy_thread().tid + 1, 0};
  write_warning(
      log, events,
      async_event_warning(rank.version(), rank.job.request().incident.device, "port error"));
}

}  // namespace

bool ends_in(const LogJob& job, const LogPhase& phase) {
  const IncidentKind kind = job.request().incident.kind;
  if (kind == IncidentKind::None || kind == IncidentKind::OpenDevice) return false;
  return phase.kind == phase_of(kind) && is_of_all(job, phase.generation);
}

bool breaks_off(const RankView& rank, LogPhase::Kind phase) {
  const IncidentKind kind = rank.job.request().incident.kind;
  return kind != IncidentKind::None && kind != IncidentKind::OpenDevice &&
         phase == phase_of(kind) && is_of_all(rank.job, rank.generation);
}

int skipped_rank(const RankView& rank) {
  const Incident& incident = rank.job.request().incident;
  int last = rank.layout().nranks() - 1;
  while (last > 0 && process_of(rank, last).host != incident.host) --last;
  return last;
}

void write_incident(const RankView& rank, LogPhase::Kind phase, DebugLog& log) {
  const Incident& incident = rank.job.request().incident;
  if (incident.kind == IncidentKind::None || phase != phase_of(incident.kind)) return;
  if (phase != Kind::Begin && !is_of_all(rank.job, rank.generation)) return;
  const LineThread init = rank.init_thread();
  const NcclVersion version = rank.version();
  switch (incident.kind) {
    case IncidentKind::None:
      return;
    case IncidentKind::OpenDevice:
      if (is_struck(rank)) write_warning(log, init, open_device_warning(version, incident.device));
      return;
    case IncidentKind::NoRoute:
      // The first host's ranks reach the root, which is one of them, and wait for the others.
      if (process_of(rank).host > 0) write_no_route(rank, log);
      return;
    case IncidentKind::OtherVersion:
      return write_other_version(rank, log);
    case IncidentKind::DuplicateGpu:
      if (is_struck(rank)) write_duplicate_gpu(rank, log);
      return;
    case IncidentKind::ShortRing:
      return write_warning(log, init, ring_lacks_rank_warning(version, 0, skipped_rank(rank)));
    case IncidentKind::NvlsBind:
      if (is_struck(rank)) write_warning(log, init, nvls_bind_warning(version));
      return;
    case IncidentKind::ShmFull:
      if (is_struck(rank)) {
        write_warning(
            log, init,
            shared_memory_warning(version, fmt::format("/dev/shm/nccl-{:06x}", port_of(rank)),
                                  kSharedSegment));
      }
      return;
    case IncidentKind::Memlock:
      if (is_struck(rank))
        write_warning(log, rank.proxy_thread(), register_memory_warning(version));
      return;
    case IncidentKind::BadGid:
      if (!rank.host().network.devices.empty()) {
        write_warning(
            log, rank.proxy_thread(),
            modify_qp_warning(version, rank.host().network.devices.front(),
                              std::stoi(incident.detail), rank.host().interface,
                              interface_of_rank(rank, rank.layout().in_ring(0, rank.rank, 1))));
      }
      return;
    case IncidentKind::CudaMemory:
      if (is_struck(rank)) write_warning(log, init, cuda_memory_warning(version));
      return;
    case IncidentKind::LinkFlap:
      write_link_flap(rank, log);
      return write_completion(rank, log);
    case IncidentKind::Completion:
      return write_completion(rank, log);
  }
}

}  // namespace ringside
