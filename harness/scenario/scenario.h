#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/faults/fault.h"
#include "harness/hangs/outline.h"
#include "harness/scenario/workload.h"
#include "ringside/units.h"

namespace ringside {

/// The call that a hang's verdict must name.
struct ExpectedCall {
  std::string call = {};                    ///< all_reduce; empty: any
  std::string on = {};                      ///< name of the groups; empty: any
  std::optional<std::int64_t> number = {};  ///< number of the group's call, from 1; none: any

  friend bool operator==(const ExpectedCall&, const ExpectedCall&) = default;
};

/// Limits for the bus bandwidth of some groups' calls, in simulated time.
struct ExpectedBusbw {
  std::string call, on;
  std::optional<BytesPerSecond> at_least = {}, at_most = {};

  friend bool operator==(const ExpectedBusbw&, const ExpectedBusbw&) = default;
};

/// The outcome that a scenario expects.
struct Expectation {
  enum class Outcome { Finished, Hang };
  std::optional<Outcome> outcome = {};  ///< none: no expectation
  /// If it hangs: each of these verdicts is correct.
  std::vector<std::string> kinds = {};
  std::optional<std::vector<int>> culprits = {};  ///< if it hangs: exactly these, ascending
  std::optional<ExpectedCall> call = {};          ///< if it hangs
  /// If it finishes: limits for the time of a step.
  std::optional<Seconds> at_least = {}, at_most = {};
  std::vector<ExpectedBusbw> busbw = {};  ///< if it finishes
  /// Ids of audit's expected findings in logs of such hosts.
  std::vector<std::string> findings = {};
};

/// A job with its cluster, program, faults and expected outcome. It can run on real and on
/// simulated ranks.
struct Scenario {
  std::string name;
  std::string about = {};          ///< one sentence for people
  std::string on = {};             ///< hosts in the form of `--on`; empty: no particular hosts
  std::string cluster_place = {};  ///< `file:line` of `on`, for messages
  std::optional<int> nodes = {};
  std::vector<std::string> set = {};  ///< NAME=VALUE, NCCL's variables
  std::string broken = {};    ///< what is wrong with the hosts: a misconfiguration of harness/logs
  std::string workload = {};  ///< its kind; empty: steps are given one by one
  WorkloadKeys workload_keys = {};  ///< with those of ScenarioReading
  hangs::Outline outline;
  std::optional<TrainingFacts> training = {};  ///< only for training workloads
  /// A call that takes this long ends the job; none: no watchdog.
  std::optional<Seconds> watchdog = {};
  std::vector<int> absent = {};  ///< ranks that never start, ascending
  FaultPlan faults;  ///< `on` names groups of the outline; random choices are not drawn yet
  Expectation expect;
};

/// How a scenario's workload is read.
struct ScenarioReading {
  /// Keys of a training workload that follow from its hosts, for those that name neither gpu nor gpu_tflops.
  std::function<Result<WorkloadKeys>(const std::string& on)> keys_of_hosts = {};
  std::string on = {};        ///< other hosts than the file's, with their GPU; empty: the file's
  bool checks_memory = true;  ///< refuses a training step that does not fit into a GPU's memory
};

/// Reads a `ringside: scenario/1` (docs/reference/scenarios.md), or a hang-program/1.
/// where   for messages: the file
/// errors  Corrupt: `where:line: what`, with the fix
Result<Scenario> parse_scenario(const std::string& text, const std::string& where,
                                const ScenarioReading& reading = {});

/// Writes a scenario that parse_scenario() reads back; workloads are written as their steps.
/// Untrusted names and texts are never written as keys. Line breaks and control characters in
/// `name` and `about` are written as `\x0a`.
/// unknown  texts about missing information; written as comments at the top
std::string to_yaml(const Scenario& scenario, std::span<const std::string> unknown = {});

/// Adds the place of the shipped scenarios and sweeps to an error about a missing file.
Error with_shipped_files(Error error);

/// errors  as read_file(), parse_scenario()
Result<Scenario> load_scenario(const std::string& path, const ScenarioReading& reading = {});

}  // namespace ringside
