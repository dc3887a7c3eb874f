#include "engine/capi/init.h"

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/capi/gpus.h"
#include "engine/capi/group.h"
#include "engine/capi/handles.h"
#include "engine/capi/process_recorder.h"
#include "engine/capi/process_tools.h"
#include "engine/cuda/gpu/requested_gpu.h"
#include "engine/runtime/bootstrap/bootstrap_root.h"
#include "engine/runtime/bootstrap/launch.h"
#include "engine/runtime/communicator_parts.h"
#include "engine/transport/socket/interface.h"

namespace ringside {
namespace {

/// The bootstrap roots of the ids that this process has made. A root stays here until a rank of this process joins by
/// its id and takes it over.
class IdRoots {
 public:
  void keep(const std::string& id, std::unique_ptr<BootstrapRoot> root) {
    const std::lock_guard lock(mutex_);
    roots_[id] = std::move(root);
  }
  std::unique_ptr<BootstrapRoot> take(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = roots_.find(id);
    return found == roots_.end() ? nullptr : std::move(roots_.extract(found).mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<BootstrapRoot>> roots_;
};

IdRoots& roots() {
  static IdRoots all;
  return all;
}

/// How long the ranks of a status service may take to connect to each other: as long as to join.
constexpr Nanoseconds kServiceStart = kJoinTimeout;

CommunicatorOptions options_of(const rsConfig_t* config) {
  CommunicatorOptions options;
  if (config == nullptr) return options;
  if (config->connectTimeout > 0) options.connect_timeout = Seconds{config->connectTimeout};
  if (config->opTimeout > 0) options.op_timeout = Seconds{config->opTimeout};
  if (config->commName != nullptr) options.name = config->commName;
  return options;
}

/// Returns the function that starts what all ranks share, once they have met: the trace, and the status service if
/// NCCL_RAS_ADDR requests one. Both variables are the same on all ranks.
Result<PendingCommunicator::WhenMet> tools_of(rsComm& comm, bool is_recorded) {
  RINGSIDE_TRY(std::optional<std::uint16_t> port, status_port());
  if (comm.nranks == 1 || !is_recorded) port.reset();
  return PendingCommunicator::WhenMet(
      [&comm, port](Bootstrap& bootstrap, CommunicatorOptions& options) -> Status {
        RINGSIDE_TRY(comm.trace, trace_of_process(bootstrap));
        options.trace = comm.trace.get();
        if (!port) return {};
        RINGSIDE_TRY(comm.status, StatusService::start(bootstrap, *comm.recorder, {.port = *port},
                                                       deadline_in(kServiceStart)));
        return {};
      });
}

}  // namespace

Status init_communicator(rsComm_t* comm, int nranks, const rsUniqueId& id, int rank,
                         const rsConfig_t* config, const InitExtras& extras) {
  if (comm == nullptr)
    return Error{ErrorCode::InvalidArgument, "comm is null", "pass the address of a rsComm_t"};
  const std::string text(id.internal, ::strnlen(id.internal, sizeof id.internal));
  BootstrapOptions join;
  join.rank = Rank{rank};
  join.nranks = nranks;
  CommunicatorOptions options = options_of(config);
  options.description = extras.description;
  options.family = extras.family;
  // In a trace, 0 is the communicator of the whole job.
  const bool is_named = config != nullptr && config->commName != nullptr;
  if (is_named && options.name != "0") options.trace_number = trace_number_of_name(options.name);
  if (nranks != 1) {
    RINGSIDE_TRY(join.id, parse_unique_id(text));
    // The address where its ranks meet distinguishes it from others, in dumps of all of them.
    if (config == nullptr || config->commName == nullptr) options.name = to_string(join.id.root);
  }
  join.join_timeout = std::chrono::duration_cast<Nanoseconds>(options.connect_timeout);
  auto made = std::make_unique<rsComm>();
  made->nranks = nranks;
  made->rank = rank;
  made->is_blocking = config == nullptr || config->blocking != 0;
  made->name = options.name;
  made->when_left = extras.when_left;
  RINGSIDE_TRY(made->recorder, recorder_of_process(rank));
  if (extras.is_recorded) options.recorder = made->recorder.get();
  options.job_rank = made->recorder->rank();
  options.op_timeout = made->recorder->settings().op_timeout(options.op_timeout);
  RINGSIDE_TRY(
      const std::optional<int> gpu,
      requested_gpu(config != nullptr ? config->device : nullptr, gpus_of_process().current));
  made->is_on_gpu = gpu.has_value();
  RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
  RINGSIDE_TRY(made->faults,
               faults_of_process(made->recorder->rank(), launched ? launched->nranks : nranks));
  options.faults = made->faults.get();
  RINGSIDE_TRY(PendingCommunicator::WhenMet when_met, tools_of(*made, extras.is_recorded));
  RINGSIDE_TRY(made->pending,
               PendingCommunicator::start(std::move(join), std::move(options), roots().take(text),
                                          std::move(when_met),
                                          gpu ? executor_on_gpu(*gpu) : ExecutorMaker()));
  if (made->is_blocking) {
    RINGSIDE_TRY(do_with_group(made.get(), [raw = made.get()]() -> Status {
      RINGSIDE_TRY([[maybe_unused]] const CommunicatorInUse ready, communicator_of(raw));
      return {};
    }));
  }
  *comm = made.release();
  return {};
}

Status make_unique_id(rsUniqueId* id, Seconds join_timeout) {
  if (id == nullptr)
    return Error{ErrorCode::InvalidArgument, "uniqueId is null",
                 "pass the address of a rsUniqueId"};
  RINGSIDE_TRY(const InterfaceSettings settings, interface_settings_from(env_text, false));
  RINGSIDE_TRY(const std::vector<Interface> there, local_interfaces());
  RINGSIDE_TRY(const Interface chosen, choose_interface(there, settings));
  RINGSIDE_TRY(auto root,
               BootstrapRoot::start(
                   {.listen = chosen.address,
                    .secret = random_secret(),
                    .join_timeout = std::chrono::duration_cast<Nanoseconds>(join_timeout)}));
  const std::string text = to_string(root->id());
  RINGSIDE_ASSERT(text.size() < sizeof id->internal, "an id of {} bytes", text.size());
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, text.data(), text.size());
  roots().keep(text, std::move(root));
  return {};
}

}  // namespace ringside
