#include "harness/logs/rank_view.h"

#include <algorithm>

#include "engine/topology/bus_id.h"
#include "harness/logs/noise.h"

namespace ringside {
namespace {

constexpr int kThreadsFrom = 100;      ///< thread ids follow the process ids of a host
constexpr int kThreadsEach = 4;        ///< thread ids of a process in each generation
constexpr int kProcessesAtMost = 128;  ///< of a host; the thread ids of the next generation follow
constexpr int kLateSince =
    22;  ///< minor release since which connections are set up at the first collective

}  // namespace

RankView::RankView(const LogJob& of_job, int of_process, int of_generation)
    : job(of_job), process(of_process), generation(of_generation) {
  const Generation& made = job.generations()[static_cast<std::size_t>(generation)];
  const int index = made.of_process[static_cast<std::size_t>(process)];
  if (index < 0) return;
  communicator = &made.communicators[static_cast<std::size_t>(index)];
  const auto member = std::ranges::lower_bound(communicator->members, process);
  rank = static_cast<int>(member - communicator->members.begin());
}

LineThread RankView::main_thread() const {
  const LogProcess& own = job.processes()[static_cast<std::size_t>(process)];
  return {own.pid, own.local};
}

LineThread RankView::init_thread() const {
  const LogProcess& own = job.processes()[static_cast<std::size_t>(process)];
  const int first = own.pid - own.local + kThreadsFrom;
  return {first + (generation * kProcessesAtMost + own.local) * kThreadsEach, own.local};
}

LineThread RankView::proxy_thread() const {
  const LineThread init = init_thread();
  return {init.tid + 1, init.dev};
}

CommFacts RankView::facts() const {
  const GpuInfo& gpu = layout().gpu(gpu_owner());
  const auto of =
      static_cast<std::uint64_t>(process) * 1024 + static_cast<std::uint64_t>(generation);
  return {
      .pointer = 0x550000000000ULL | (noise(job.request().seed, kPointer, of) & 0xFFFFFFFFF0ULL),
      .rank = rank,
      .nranks = layout().nranks(),
      .cuda_dev = main_thread().dev,
      .nvml_dev = gpu.dev,
      .bus_id = bus_id_or_none(gpu.bus_id),
      .id = communicator->id};
}

int RankView::gpu_owner() const {
  const Incident& incident = job.request().incident;
  if (incident.kind != IncidentKind::DuplicateGpu || main_thread().dev != 1) return rank;
  const int own_host = job.processes()[static_cast<std::size_t>(process)].host;
  return incident.host < 0 || incident.host == own_host ? rank - 1 : rank;
}

double RankView::share(std::uint64_t what) const {
  const auto of =
      static_cast<std::uint64_t>(process) * 1024 + static_cast<std::uint64_t>(generation);
  return noise_share(job.request().seed, kShare + what, of);
}

bool connects_late(const LogJob& job) {
  return job.request().version.is_from(kLateSince) && job.rules(job.hosts().front()).has_cumem;
}

}  // namespace ringside
