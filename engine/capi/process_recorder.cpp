#include "engine/capi/process_recorder.h"

#include <map>
#include <mutex>

#include "engine/runtime/bootstrap/launch.h"

namespace ringside {

Result<std::shared_ptr<FlightRecorder>> recorder_of_process(int rank) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<FlightRecorder>> recorders;
  RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
  RINGSIDE_TRY(FlightSettings settings, flight_settings());
  const int job_rank = launched ? launched->rank : rank;
  const std::lock_guard lock(mutex);
  std::weak_ptr<FlightRecorder>& known = recorders[job_rank];
  if (auto recorder = known.lock()) return recorder;
  auto recorder = std::make_shared<FlightRecorder>(std::move(settings), job_rank);
  recorder->dump_on_signal();
  known = recorder;
  return recorder;
}

}  // namespace ringside
