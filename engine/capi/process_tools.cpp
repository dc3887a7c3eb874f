#include "engine/capi/process_tools.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>

#include "base/env.h"
#include "base/host_name.h"
#include "base/path_pattern.h"
#include "engine/faults/fault_text.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/shared_trace.h"
#include "engine/runtime/watch/call_faults.h"
#include "engine/topology/sources/description_file.h"
#include "trace/file_sink.h"

namespace ringside {
namespace {

/// Reads the value of RINGSIDE_FAULTS. It names a file if that file exists, or if the text ends like the name of a YAML
/// file or has a line break, which no fault has; the error then names the file. Else it is a list of faults, separated
/// by semicolons.
Result<FaultPlan> plan_of(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored) || text.find('\n') != std::string::npos ||
      text.ends_with(".yaml") || text.ends_with(".yml")) {
    RINGSIDE_TRY(const std::string plan, read_description(text));
    return parse_fault_plan(plan, text);
  }
  FaultPlan plan;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    const std::string one = text.substr(at, end - at);
    at = end + 1;
    if (one.empty()) continue;
    RINGSIDE_TRY(Fault fault, parse_fault(one));
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

}  // namespace

Result<std::shared_ptr<CallFaults>> faults_of_process(int job_rank, int job_ranks) {
  static std::mutex mutex;
  static std::map<int, std::shared_ptr<CallFaults>> ranks;
  const std::optional<std::string> text = env_text("RINGSIDE_FAULTS");
  if (!text) return std::shared_ptr<CallFaults>();
  const std::lock_guard lock(mutex);
  std::shared_ptr<CallFaults>& known = ranks[job_rank];
  if (known) return known;
  RINGSIDE_TRY(const FaultPlan plan, plan_of(*text));
  RINGSIDE_TRY(FaultPlan drawn, plan.drawn_for(job_ranks));
  known = std::make_shared<CallFaults>(std::move(drawn), job_rank);
  return known;
}

Result<std::shared_ptr<TraceRecorder>> trace_of_process(Bootstrap& bootstrap) {
  static std::mutex mutex;
  static std::shared_ptr<TraceRecorder> recorder;
  const std::optional<std::string> pattern = env_text("RINGSIDE_TRACE");
  const std::string path =
      pattern ? filled_in_path(*pattern, host_name("localhost"), ::getpid()) : std::string();
  TraceInfo info = this_process_info(TraceClock::HostMonotonic);
  // Does not keep the lock in create_shared_trace(), which waits for the other ranks: some may be threads of this
  // process.
  bool has_joined = false;
  {
    const std::lock_guard lock(mutex);
    has_joined = recorder != nullptr;
  }
  RINGSIDE_TRY(create_shared_trace(bootstrap, path, info, has_joined));
  if (path.empty()) return std::shared_ptr<TraceRecorder>();
  const std::lock_guard lock(mutex);
  if (!recorder) {
    RINGSIDE_TRY(recorder, join_file(path, std::move(info)));
  }
  return recorder;
}

}  // namespace ringside
