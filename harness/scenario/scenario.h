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

/// The call that the verdict on a hang names.
struct ExpectedCall {
  std::string call = {};                    ///< all_reduce; empty: any
  std::string on = {};                      ///< the groups' name; empty: any
  std::optional<std::int64_t> number = {};  ///< of the group's calls, from 1 on

  friend bool operator==(const ExpectedCall&, const ExpectedCall&) = default;
};

/// Bus bandwidth that calls of some groups are to reach, in simulated time.
struct ExpectedBusbw {
  std::string call, on;
  std::optional<BytesPerSecond> at_least = {}, at_most = {};

  friend bool operator==(const ExpectedBusbw&, const ExpectedBusbw&) = default;
};

/// The outcome that a scenario expects.
struct Expectation {
  enum class Outcome { Finished, Hang };
  std::optional<Outcome> outcome = {};            ///< none: nothing is expected
  std::vector<std::string> kinds = {};            ///< of a hang: any of these verdicts is right
  std::optional<std::vector<int>> culprits = {};  ///< of a hang: just these, ascending
  std::optional<ExpectedCall> call = {};          ///< of a hang
  std::optional<Seconds> at_least = {}, at_most = {};  ///< of a finished job: the time of a step
  std::vector<ExpectedBusbw> busbw = {};               ///< of a finished job
  std::vector<std::string> findings = {};  ///< ids of what audit finds in logs of such hosts
};

/// One job: its cluster, its ranks' program, its faults, and its expected outcome. The same for real ranks and
/// for simulated ones.
struct Scenario {
  std::string name;
  std::string about = {};          ///< for people, in a sentence
  std::string on = {};             ///< as `--on` takes it; empty: hosts of no kind
  std::string cluster_place = {};  ///< `file:line` of it, for messages
  std::optional<int> nodes = {};
  std::vector<std::string> set = {};  ///< NAME=VALUE, NCCL's variables
  std::string broken = {};    ///< what is wrong with the hosts: a misconfiguration of harness/logs
  std::string workload = {};  ///< its kind; empty: steps are given one by one
  WorkloadKeys workload_keys = {};  ///< with those of ScenarioReading
  hangs::Outline outline;
  std::optional<TrainingFacts> training = {};  ///< of a workload that trains
  std::optional<Seconds> watchdog = {};        ///< a call that takes so long ends the job
  std::vector<int> absent = {};                ///< ranks that never come to the start, ascending
  FaultPlan faults;  ///< `on` names groups of the outline; open choices are not drawn yet
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

/// What parse_scenario() reads back: a workload as the steps that it was made into. Names and texts may come from strangers:
/// none of them becomes a key. A line break or control character in `name` and `about` is written as `\x0a`.
/// unknown  what the scenario's source did not say: comments at the top
std::string to_yaml(const Scenario& scenario, std::span<const std::string> unknown = {});

/// Adds to a missing file's error where the shipped scenarios and sweeps are.
Error with_shipped_files(Error error);

/// errors  as read_file(), parse_scenario()
Result<Scenario> load_scenario(const std::string& path, const ScenarioReading& reading = {});

}  // namespace ringside
