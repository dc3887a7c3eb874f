#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/hangs/truth.h"

namespace ringside::hangs {
namespace {

const char* words(Moment moment) {
  switch (moment) {
    case Moment::Timeout:
      return "hung";
    case Moment::MidRun:
      return "mid_run";
    case Moment::Finished:
      break;
  }
  return "finished";
}

const char* why_no_dump(Halt halt) {
  switch (halt) {
    case Halt::Killed:
      return "killed";
    case Halt::Stopped:
      return "stopped";
    case Halt::Exited:
      return "exited";
    default:
      return "ended by the agent";
  }
}

bool is_removed(const Evidence& evidence, int rank) {
  const std::vector<int>& removed = evidence.dumps_removed;
  return std::find(removed.begin(), removed.end(), rank) != removed.end();
}

}  // namespace

Json truth_json(const HangCase& hang, const Truth& truth, const std::string& id) {
  const Fault& fault = hang.fault;
  const Evidence& evidence = hang.evidence;
  Json out;
  out["schema"] = "ringside.hang-truth/1";
  out["id"] = id;
  out["seed"] = hang.seed;
  out["workload"] = hang.workload;
  out["nranks"] = hang.program.ranks;
  out["ngroups"] = hang.program.groups.size();
  out["class"] = to_string(fault.kind);
  out["acceptable_classes"] = truth.classes;
  out["diverged_ranks"] = fault.culprits;
  out["acceptable_culprits"] = truth.culprits;
  out["ambiguous"] = truth.culprits.size() > 1;
  out["ambiguity"] = truth.doubt.empty() ? Json(nullptr) : Json(truth.doubt);
  out["fault"] = {{"text", fault.text}, {"iteration", fault.iteration}, {"ranks", fault.culprits}};
  if (fault.group >= 0) {
    const Group& group = hang.program.groups[static_cast<std::size_t>(fault.group)];
    out["group"] = {{"name", group.name}, {"desc", group.desc}, {"ranks", group.ranks}};
    const Json seq = fault.seq;
    out["first_divergence"] = {{"group", group.name},
                               {"collective_seq_id", fault.is_p2p ? Json(nullptr) : seq},
                               {"p2p_seq_id", fault.is_p2p ? seq : Json(nullptr)}};
  } else {
    out["group"] = nullptr;
    out["first_divergence"] = nullptr;
  }
  Json reasons = Json::object();
  std::vector<int> without;
  for (int rank = 0; rank < hang.program.ranks; ++rank) {
    if (evidence.has_dump[static_cast<std::size_t>(rank)]) continue;
    without.push_back(rank);
    const Halt halt = hang.play.ranks[static_cast<std::size_t>(rank)].end.halt;
    reasons[fmt::format("{}", rank)] =
        is_removed(evidence, rank) ? "dump deleted" : why_no_dump(halt);
  }
  out["ranks_without_dump"] = without;
  out["no_dump_because"] = reasons;
  out["dumps_removed"] = evidence.dumps_removed;
  out["dump_moment"] = words(evidence.moment);
  bool has_wrapped = false;
  for (std::size_t rank = 0; rank < hang.play.ranks.size(); ++rank) {
    const std::int64_t dump = evidence.dump_time[rank];
    const std::int64_t moment = dump == kNever ? evidence.first_timeout : dump;
    has_wrapped = has_wrapped || entries_until(hang.play.ranks[rank], moment) >
                                     static_cast<std::size_t>(hang.recorder.capacity);
  }
  out["recorder"] = {{"backend", hang.recorder.is_gloo ? "gloo" : "nccl"},
                     {"torch", hang.recorder.release.torch},
                     {"version", hang.recorder.release.format},
                     {"timing", hang.recorder.has_timing},
                     {"only_active", hang.recorder.is_only_active},
                     {"buffer_size", hang.recorder.capacity},
                     {"wrapped", has_wrapped}};
  out["logs"] = !evidence.has_logs   ? "none"
                : evidence.has_calls ? "watchdog and COLL lines"
                                     : "watchdog lines";
  out["ncclras"] = evidence.has_ras;
  return out;
}

}  // namespace ringside::hangs
