#include "harness/job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/free_memory.h"
#include "base/host_name.h"
#include "base/output_file.h"
#include "base/path_pattern.h"
#include "engine/flight/dump_file.h"
#include "engine/flight/recorder.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/debug_output.h"
#include "engine/runtime/bootstrap/launch.h"
#include "engine/runtime/bootstrap/rendezvous.h"
#include "engine/runtime/bootstrap/shared_trace.h"
#include "engine/runtime/watch/call_faults.h"
#include "engine/runtime/watch/status_service.h"
#include "engine/transport/socket/interface.h"
#include "harness/local_ranks.h"
#include "trace/file_sink.h"

namespace ringside {
namespace {

constexpr int kDefaultLocalRanks = 2;

Nanoseconds in_ns(Seconds time) { return std::chrono::duration_cast<Nanoseconds>(time); }

TraceInfo info_of(const JobOptions& options) {
  TraceInfo info = this_process_info(TraceClock::HostMonotonic);
  info.command_line = options.command;
  return info;
}

/// Creates the trace file, so that an invalid path is reported before any rank runs.
Status create_trace(const JobOptions& options) {
  if (options.trace_path.empty()) return {};
  RINGSIDE_TRY([[maybe_unused]] const auto recorder,
               record_to_file(options.trace_path, info_of(options)));
  return {};
}

Result<std::unique_ptr<TraceRecorder>> join_trace(const JobOptions& options) {
  if (options.trace_path.empty()) return std::unique_ptr<TraceRecorder>();
  return join_file(options.trace_path, info_of(options));
}

/// Escapes the path for NCCL_DEBUG_FILE, which replaces %h, %p and %%.
std::string as_debug_file(const std::string& path) {
  std::string text;
  for (const char letter : path) text += letter == '%' ? std::string("%%") : std::string(1, letter);
  return text;
}

void enter(const JobOptions& options, Rank rank, JobStage stage) {
  if (options.on_stage) options.on_stage(rank, stage);
}

/// Checks that this rank's dump does not replace a file of another kind.
/// errors  InvalidArgument: it would
Status check_dump_path(const FlightSettings& flight, Rank rank, const JobOptions& options) {
  if (flight.prefix.empty()) return {};
  return check_output({.option = "dump",
                       .path = dump_path(flight, to_int(rank)),
                       .kind = flight.is_json ? ContentKind::OtherJson : ContentKind::Pickle},
                      {}, options.overwrites_files);
}

/// Runs one rank after it has found the others.
Result<int> run_rank(std::unique_ptr<Bootstrap> bootstrap, const JobOptions& options,
                     const JobMain& main) {
  const Rank me = bootstrap->rank();
  enter(options, me, JobStage::Connect);
  RINGSIDE_TRY(const std::unique_ptr<TraceRecorder> recorder, join_trace(options));
  RINGSIDE_TRY(FaultPlan plan, options.faults.drawn_for(bootstrap->nranks()));
  CallFaults faults(std::move(plan), to_int(me));
  CommunicatorOptions own = options.communicator;
  own.trace = recorder.get();
  if (!options.faults.faults.empty()) own.faults = &faults;
  RINGSIDE_TRY(FlightSettings flight, flight_settings());
  if (!options.dumps.empty()) flight.prefix = options.dumps + "/comm_lib_trace_rank_";
  RINGSIDE_TRY(check_dump_path(flight, me, options));
  own.op_timeout = flight.op_timeout(own.op_timeout);
  FlightRecorder calls(std::move(flight), to_int(me));
  calls.dump_on_signal();
  own.recorder = &calls;
  RINGSIDE_TRY(std::optional<std::uint16_t> port, status_port());
  if (options.status_port) port = options.status_port;
  std::unique_ptr<StatusService> status_service;
  if (port) {
    RINGSIDE_TRY(status_service, StatusService::start(*bootstrap, calls, {.port = *port},
                                                      deadline_in(in_ns(options.join_timeout))));
  }
  auto made = options.make_executor
                  ? runtime::Communicator::make(std::move(bootstrap), own, options.make_executor)
                  : runtime::Communicator::make(std::move(bootstrap), own);
  RINGSIDE_TRY(const auto communicator, std::move(made));
  enter(options, me, JobStage::Transfer);
  JobRank rank{*communicator, me == Rank{0}};
  Result<int> status = main(rank);
  if (!status) {
    communicator->abort(status.error());
    return status;
  }
  for (const std::string& line : faults.unfired()) fmt::print(stderr, "note: {}\n", line);
  RINGSIDE_TRY(communicator->finish());
  return status;
}

/// Returns the address where the ranks of one host meet: loopback, unless an interface was requested.
Result<SocketAddress> local_address() {
  RINGSIDE_TRY(const InterfaceSettings settings, interface_settings_from(env_text, true));
  RINGSIDE_TRY(const std::vector<Interface> there, local_interfaces());
  RINGSIDE_TRY(const Interface chosen, choose_interface(there, settings));
  return chosen.address;
}

Result<int> run_local_rank(const LocalRank& me, const SocketAddress& address,
                           const JobOptions& options, const JobMain& main) {
  if (!options.logs.empty()) {
    DebugOutput::of_process().log_into(
        fmt::format("{}/rank_{}.log", as_debug_file(options.logs), me.rank()), "INIT,COLL");
  }
  DebugOutput::of_process().set_place(me.rank());
  enter(options, Rank{me.rank()}, JobStage::Bootstrap);
  std::unique_ptr<BootstrapRoot> root;
  UniqueId id;
  if (me.rank() == 0) {
    RINGSIDE_TRY(root, BootstrapRoot::start({.listen = address,
                                             .secret = random_secret(),
                                             .nranks = me.nranks(),
                                             .join_timeout = in_ns(options.join_timeout)}));
    id = root->id();
    RINGSIDE_TRY(me.publish(to_string(id)));
  } else {
    RINGSIDE_TRY(const std::string line, me.wait_for_line(options.join_timeout));
    RINGSIDE_TRY(id, parse_unique_id(line));
  }
  RINGSIDE_TRY(auto bootstrap, Bootstrap::join({.rank = Rank{me.rank()},
                                                .nranks = me.nranks(),
                                                .id = id,
                                                .listen = address,
                                                .join_timeout = in_ns(options.join_timeout)}));
  root.reset();
  return run_rank(std::move(bootstrap), options, main);
}

Result<int> run_local_job(int nranks, const JobOptions& options, const JobMain& main) {
  RINGSIDE_TRY([[maybe_unused]] const FaultPlan plan, options.faults.drawn_for(nranks));
  RINGSIDE_TRY(const SocketAddress address, local_address());
  RINGSIDE_TRY(create_trace(options));
  return run_local_ranks(
      nranks, [&](const LocalRank& me) { return run_local_rank(me, address, options, main); },
      options.grace);
}

Result<int> run_launched_rank(const LaunchInfo& info, const JobOptions& options,
                              const JobMain& main) {
  DebugOutput::of_process().set_place(info.local_rank.value_or(0));
  const Nanoseconds join_timeout = in_ns(options.join_timeout);
  enter(options, Rank{info.rank}, JobStage::Bootstrap);
  RINGSIDE_TRY(Rendezvous meeting, rendezvous(info, join_timeout));
  RINGSIDE_TRY(auto bootstrap, Bootstrap::join({.rank = Rank{info.rank},
                                                .nranks = info.nranks,
                                                .id = meeting.id,
                                                .ticket = meeting.ticket,
                                                .listen = meeting.listen,
                                                .join_timeout = join_timeout}));
  meeting.root.reset();
  RINGSIDE_TRY(create_shared_trace(*bootstrap, options.trace_path, info_of(options), false));
  return run_rank(std::move(bootstrap), options, main);
}

/// Checks that this host has the memory for all its ranks. Each rank checks before it joins, so that none has
/// allocated memory by then.
Status check_host_memory(const JobOptions& options, int ranks) {
  // The process and its connections; 6 to 16 MiB were measured over shm.
  constexpr Bytes kRank = 16_MiB;
  if (options.memory == 0_B) return {};
  Bytes all = options.memory + kRank;
  if (__builtin_mul_overflow(all.value, ranks, &all.value)) all = Bytes{UINT64_MAX};
  return check_memory(all, fmt::format("{} local rank{}", ranks, ranks == 1 ? "" : "s"),
                      "use smaller buffers, or fewer ranks on this host");
}

}  // namespace

Result<int> run_job(const JobOptions& options, const JobMain& main) {
  JobOptions own = options;
  own.trace_path = filled_in_path(options.trace_path, host_name("localhost"), ::getpid());
  RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
  if (!launched) {
    const int ranks = own.local_ranks.value_or(kDefaultLocalRanks);
    RINGSIDE_TRY(check_host_memory(own, ranks));
    return run_local_job(ranks, own, main);
  }
  if (own.local_ranks) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("-n {} under {}, which has started this as rank {} of {}", *own.local_ranks,
                    to_string(launched->launcher), launched->rank, launched->nranks),
        "omit -n, or start one process without the launcher"};
  }
  if (Status enough = check_host_memory(own, launched->local_ranks.value_or(1)); !enough) {
    Error error = std::move(enough).error();
    error.is_reported_elsewhere = launched->local_rank.value_or(0) != 0;
    return error;
  }
  return run_launched_rank(*launched, own, main);
}

}  // namespace ringside
