#include "diag/facts/identity.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "diag/job/job_words.h"

namespace ringside::facts {
namespace {

std::int64_t bus_of(const std::string& device) {
  std::int64_t bus = -1;
  const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), bus, 16);
  return error == std::errc() && end == device.data() + device.size() ? bus : -1;
}

/// The identities that the sources state.
class Identities {
 public:
  explicit Identities(job::ProcessRanks known) : processes_(std::move(known)) {}

  [[nodiscard]] const job::ProcessRanks& processes() const { return processes_; }

  void learn(const Facts& facts) {
    learn_communicators(facts.members);
    each_list(facts, [&](const auto& list) {
      for (const auto& fact : list) learn(fact.subject);
    });
    each_list(facts, [&](const auto& list) {
      for (const auto& fact : list) check(fact.subject);
    });
  }

  void resolve(Subject& subject) const {
    if (subject.rank >= 0) return;
    if (subject.label >= 0 && are_labels_ranks_) subject.rank = subject.label;
    if (subject.rank >= 0) return;
    if (subject.pid >= 0) subject.rank = processes_.rank_of(subject.host, subject.pid);
    if (subject.rank < 0) {
      if (const std::int64_t bus = bus_of(subject.device); bus >= 0)
        subject.rank = processes_.rank_of_gpu(subject.host, bus);
    }
    if (subject.rank < 0 && !subject.process.empty()) {
      const auto found = names_.find(subject.process);
      subject.rank = found != names_.end() ? found->second : number_of_worker(subject.process);
    }
    if (subject.rank < 0 && subject.group_rank >= 0) {
      const auto found = places_.find({subject.group, subject.group_rank});
      if (found != places_.end()) subject.rank = found->second;
    }
    if (subject.rank < 0 && subject.local_rank >= 0) {
      const auto found = locals_.find({subject.host, subject.local_rank});
      if (found != locals_.end()) subject.rank = found->second;
    }
    // Up to PyTorch 2.1, a line has only `[Rank 3]`, in the only group that most jobs have.
    const bool is_bare_place = subject.group.empty() && subject.group_rank >= 0 && subject.pid < 0;
    if (subject.rank < 0 && is_bare_place && !has_subgroups_) subject.rank = subject.group_rank;
  }

 private:
  /// Returns `2` for `VllmWorker-2` and `Worker_TP2`: servers number the workers of a group from 0, and the group
  /// usually is the job.
  static int number_of_worker(const std::string& process) {
    const std::size_t digits = process.find_last_not_of("0123456789") + 1;
    if (process.find("Worker") == std::string::npos || digits == process.size()) return -1;
    int number = -1;
    const auto [end, error] =
        std::from_chars(process.data() + digits, process.data() + process.size(), number);
    return error == std::errc() ? number : -1;
  }

  /// The rank in the largest communicator of a process is its global rank, if no process has a larger one.
  void learn_communicators(const std::vector<Member>& members) {
    std::int64_t largest = 0;
    for (const Member& member : members) largest = std::max(largest, member.size);
    for (const Member& member : members) {
      const Subject& subject = member.subject;
      const bool is_of_job = member.size == largest && subject.group_rank >= 0;
      if (!is_of_job || subject.rank >= 0) continue;
      if (subject.pid >= 0) processes_.know(subject.host, subject.pid, subject.group_rank);
      if (const std::int64_t bus = bus_of(subject.device); bus >= 0)
        processes_.know_gpu(subject.host, bus, subject.group_rank);
    }
  }

  template <typename Map, typename Key>
  static void know(Map& map, Key key, int rank) {
    const auto [known, is_new] = map.try_emplace(std::move(key), rank);
    if (!is_new && known->second != rank) known->second = -1;
  }

  void learn(const Subject& subject) {
    if (subject.rank < 0) return;
    if (subject.pid >= 0) processes_.know(subject.host, subject.pid, subject.rank);
    if (const std::int64_t bus = bus_of(subject.device); bus >= 0 && subject.device.size() > 3)
      processes_.know_gpu(subject.host, bus, subject.rank);
    if (!subject.process.empty()) know(names_, subject.process, subject.rank);
    if (!subject.group.empty() && subject.group_rank >= 0)
      know(places_, std::pair(subject.group, subject.group_rank), subject.rank);
    if (subject.local_rank >= 0 && !subject.host.empty())
      know(locals_, std::pair(subject.host, subject.local_rank), subject.rank);
  }

  /// Checks whether anything contradicts that the number before a line, or the rank in a group, is the global rank.
  void check(const Subject& subject) {
    const int rank = subject.rank >= 0  ? subject.rank
                     : subject.pid >= 0 ? processes_.rank_of(subject.host, subject.pid)
                                        : -1;
    if (subject.label >= 0 && rank >= 0 && rank != subject.label) are_labels_ranks_ = false;
    if (subject.group_rank >= 0 && subject.rank >= 0 && subject.rank != subject.group_rank)
      has_subgroups_ = true;
  }

  bool are_labels_ranks_ = true;
  bool has_subgroups_ = false;
  job::ProcessRanks processes_;
  std::map<std::string, int> names_;  ///< -1: of several ranks
  std::map<std::pair<std::string, int>, int> places_;
  std::map<std::pair<std::string, int>, int> locals_;
};

}  // namespace

namespace {

/// A watchdog's line names the call, the next line the group: together they identify the call.
void name_groups(std::vector<Call>& calls) {
  std::map<std::pair<int, std::int64_t>, const Call*> named;
  for (const Call& call : calls) {
    if (call.group.empty() || call.subject.rank < 0 || call.sequence < 0) continue;
    const auto [known, is_new] =
        named.try_emplace(std::pair(call.subject.rank, call.sequence), &call);
    const bool is_other = !is_new && known->second != nullptr && known->second->group != call.group;
    if (is_other) known->second = nullptr;  // two groups of the rank have a call with this number
  }
  for (Call& call : calls) {
    if (!call.group.empty() || call.subject.rank < 0) continue;
    const auto found = named.find({call.subject.rank, call.sequence});
    if (found == named.end() || found->second == nullptr) continue;
    call.group = found->second->group;
    call.last_enqueued = found->second->last_enqueued;
    call.last_completed = found->second->last_completed;
  }
}

}  // namespace

job::ProcessRanks resolve_ranks(Facts& facts, job::ProcessRanks known) {
  Identities identities(std::move(known));
  identities.learn(facts);
  each_list(facts, [&](auto& list) {
    for (auto& fact : list) identities.resolve(fact.subject);
  });
  for (Died& death : facts.deaths) {
    if (death.subject.rank < 0) death.subject.rank = job::rank_in_process_name(death.program);
  }
  name_groups(facts.calls);
  return identities.processes();
}

}  // namespace ringside::facts
