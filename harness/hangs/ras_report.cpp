#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "harness/hangs/hang_logs.h"
#include "harness/hangs/log_times.h"

namespace ringside::hangs {
namespace {

constexpr std::array<const char*, 5> kCounted{"Broadcast", "Reduce", "AllGather", "ReduceScatter",
                                              "AllReduce"};

/// Returns the index in kCounted; -1 for operations that RAS does not count: sends and receives, and operations that
/// consist of them.
int counted(Op op) {
  switch (op) {
    case Op::Broadcast:
      return 0;
    case Op::Reduce:
      return 1;
    case Op::AllGather:
      return 2;
    case Op::ReduceScatter:
      return 3;
    case Op::AllReduce:
    case Op::Barrier:
      return 4;
    case Op::AllToAll:
    case Op::Send:
    case Op::Recv:
      break;
  }
  return -1;
}

Json process(const HangCase& hang, int rank) {
  const int host = rank / hang.program.ranks_per_host;
  const int local = rank % hang.program.ranks_per_host;
  return {{"host", fmt::format("10.0.1.{}", host + 1)},
          {"pid", 4200 + rank},
          {"cuda_dev", local},
          {"nvml_dev", local}};
}

Json member(const HangCase& hang, int group, int place, int rank) {
  Json one = {{"rank", place}};
  one.update(process(hang, rank));
  one["status"] = {{"init_state", 0},
                   {"async_error", 0},
                   {"finalize_called", false},
                   {"destroy_flag", false},
                   {"abort_flag", false}};
  std::array<int, 5> counts{};
  for (const Record& record : hang.play.ranks[static_cast<std::size_t>(rank)].records) {
    const int index = counted(record.step->op);
    const bool is_launched = record.created <= hang.evidence.first_timeout;
    if (record.step->group == group && index >= 0 && is_launched) {
      ++counts[static_cast<std::size_t>(index)];
    }
  }
  for (std::size_t i = 0; i < counts.size(); ++i) one["collective_counts"][kCounted[i]] = counts[i];
  return one;
}

Json communicator(const HangCase& hang, int group) {
  const Group& own = hang.program.groups[static_cast<std::size_t>(group)];
  Json ranks = Json::array();
  Json missing = Json::array();
  for (std::size_t place = 0; place < own.ranks.size(); ++place) {
    const int rank = own.ranks[place];
    if (hang.evidence.dump_time[static_cast<std::size_t>(rank)] != kNever) {
      ranks.push_back(member(hang, group, static_cast<int>(place), rank));
      continue;
    }
    // After a minute without contact, a process is declared dead for good.
    constexpr std::int64_t kDeclaredAfter = 60 * kSecond;
    const std::int64_t gone = hang.play.ranks[static_cast<std::size_t>(rank)].end.host_time;
    const bool is_dead = hang.evidence.first_timeout - gone >= kDeclaredAfter;
    Json one = {{"rank", place}};
    one.update(process(hang, rank));
    one["status"] = {{"unresponsive", true}, {"considered_dead", is_dead}};
    missing.push_back(std::move(one));
  }
  const std::string hash = fmt::format("{:#x}", communicator_id(hang, group));
  return {{"hash", hash},
          {"secondary_hash", hash + ":0x0"},
          {"size", own.ranks.size()},
          {"ranks_count", ranks.size()},
          {"missing_ranks_count", missing.size()},
          {"ranks", std::move(ranks)},
          {"missing_ranks", std::move(missing)}};
}

}  // namespace

std::string ras_report(const HangCase& hang) {
  Json list = Json::array();
  for (int group = 0; group < static_cast<int>(hang.program.groups.size()); ++group) {
    const auto& ranks = hang.program.groups[static_cast<std::size_t>(group)].ranks;
    const bool is_used = std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
      const auto& records = hang.play.ranks[static_cast<std::size_t>(rank)].records;
      return std::any_of(records.begin(), records.end(),
                         [&](const Record& record) { return record.step->group == group; });
    });
    if (is_used && ranks.size() > 1) list.push_back(communicator(hang, group));
  }
  const std::string stamp = summary_stamp(hang.evidence.epoch[0] + hang.evidence.first_timeout);
  const Json report = {{"nccl_version", hang.recorder.release.nccl},
                       {"cuda_runtime_version", 12080},
                       {"cuda_driver_version", 12080},
                       {"timestamp", stamp.substr(0, 10) + " " + stamp.substr(11)},
                       {"communicators_count", list.size()},
                       {"communicators", list},
                       {"ras", {{"collection_time_sec", 0.012}, {"timeouts_count", 0}}}};
  return to_text(report);
}

}  // namespace ringside::hangs
