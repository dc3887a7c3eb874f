#include "harness/attach/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/host_name.h"
#include "base/one_line.h"
#include "base/text.h"
#include "base/write_file.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "harness/attach/control_plane.h"
#include "harness/attach/job_processes.h"
#include "harness/attach/poll_reports.h"
#include "harness/attach/process.h"
#include "harness/attach/store_client.h"

namespace ringside::attach {
namespace {

constexpr std::size_t kMostAtOnce = 8;     ///< processes that are asked at the same time
constexpr std::size_t kMostRanks = 16384;  ///< more are ignored: a report may be damaged
constexpr std::size_t kMostPids = 64;  ///< processes whose stacks are read: several hosts' worth
constexpr auto kForStack = std::chrono::seconds(30);  ///< a debugger loads symbols
constexpr std::size_t kMostDebuggers = 4;             ///< each loads the symbols of a whole process
/// Reports are polled until a third of the time is left, which dumps and stacks need.
constexpr int kShareForDumps = 3;

Nanoseconds in_ns(Seconds time) { return std::chrono::duration_cast<Nanoseconds>(time); }

/// A process of the job, and the ways to reach it.
struct Worker {
  int rank = -1;
  std::optional<Place> control_plane;
  std::optional<ProcessFacts> process;  ///< null: not on this host, or ended
  std::int64_t pid = -1;                ///< -1: unknown
  bool is_of_this_host = false;

  [[nodiscard]] bool is_stopped() const {
    return process && (process->state == 'T' || process->state == 't');
  }
};

/// A process whose stack is read.
struct StackOf {
  std::int64_t pid = -1;
  int rank = -1;  ///< -1: unknown
  bool is_stopped = false;
};

/// Calls do_one(index) for each index below `count`, at most `most` of them at the same time.
/// Threads  do_one is called by several
template <typename DoOne>
void for_each_at_once(std::size_t count, std::size_t most, const DoOne& do_one) {
  std::atomic<std::size_t> next{0};
  const auto do_some = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) do_one(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(most, count); ++i) threads.emplace_back(do_some);
  do_some();
}

/// Returns a text that changes when the rank begins or ends a call.
std::string fingerprint_of(const hang::RankDump& dump) {
  const auto pending = std::ranges::count_if(dump.calls, &hang::Call::is_pending);
  return fmt::format("{},{};", dump.calls.empty() ? 0 : dump.calls.back().record + 1, pending);
}

/// The prefixes of the store in which a job keeps the keys of its debug server.
/// source  docs/formats 7.6
constexpr const char* kStorePrefixes[] = {"/debug_server/", "/default_pg/debug_server/",
                                          "/worker/attempt_0/debug_server/",
                                          "/worker/attempt_0/default_pg/debug_server/"};

/// A process that is asked for its dump several times.
struct Sample {
  const Worker* worker = nullptr;
  std::string first, last;  ///< its dumps; empty: none
};

/// Returns at most kMostAtOnce of the processes, evenly spread over the ranks.
std::vector<Sample> some_of(std::vector<Sample> all) {
  if (all.size() <= kMostAtOnce) return all;
  std::vector<Sample> some;
  for (std::size_t i = 0; i < kMostAtOnce; ++i) some.push_back(all[i * all.size() / kMostAtOnce]);
  return some;
}

/// Gathers in this order: the reports of the first service that answers, the job's processes on this host, and, unless
/// the job moves or has ended, the addresses of its control planes, their dumps, and last what a debugger must read. A
/// source that does not answer is noted, and the next one is asked.
class Gatherer {
 public:
  Gatherer(const Request& request, std::string folder, const OnStep& on_step)
      : request_(request),
        folder_(std::move(folder)),
        on_step_(on_step),
        deadline_(deadline_in(in_ns(request.timeout))) {}

  Result<Gathered> run() {
    const Clock::Time began = real_clock().now();
    RINGSIDE_TRY(ask_services());
    find_processes();
    if (may_hang()) {
      find_workers();
      RINGSIDE_TRY(ask_store());
      for (std::size_t i = 0; i < request_.workers.size(); ++i) {
        worker(static_cast<int>(i)).control_plane = request_.workers[i];
      }
      RINGSIDE_TRY(poll_dumps());
    }
    if (may_hang()) {
      RINGSIDE_TRY(ask_workers());
      if (request_.diagnoses) RINGSIDE_TRY(ask_diagnostics());
      RINGSIDE_TRY(keep_processes());
      RINGSIDE_TRY(read_stacks());
    }
    all_.took = real_clock().now() - began;
    const bool has_answer = std::ranges::any_of(all_.sources, &Source::has_answered);
    if (!has_answer && first_error_) return *first_error_;
    return std::move(all_);
  }

 private:
  [[nodiscard]] bool may_hang() const {
    return all_.state != JobState::Moves && all_.state != JobState::Gone;
  }

  /// Returns the time until which reports are polled.
  [[nodiscard]] Deadline end_of_polls() const {
    return deadline_ - in_ns(request_.timeout / kShareForDumps);
  }

  Worker& worker(int rank) {
    Worker& one = workers_[rank];
    one.rank = rank;
    return one;
  }

  void step(const std::string& line) const {
    if (on_step_) on_step_(line);
  }

  void add_source(Source source) {
    step(fmt::format("{} {}: {}", source.what, source.where, source.said));
    all_.sources.push_back(std::move(source));
  }

  void add_failure(const char* what, const std::string& where, const Error& error) {
    if (!first_error_) {
      first_error_ = error;
      if (error.message.find(where) == std::string::npos) {
        first_error_->message = fmt::format("{}: {}", where, error.message);
      }
    }
    add_source({what, where, false, one_line(error.message)});
  }

  Status keep(const std::string& name, const std::string& bytes) {
    ++all_.files;
    return write_file(folder_ + "/" + name, bytes);
  }

  /// Polls the first service that answers.
  Status ask_services() {
    for (const HostPort& host : request_.services) {
      const RasClient client(Place{host, {}},
                             {.service_wait = std::min(Seconds{2}, Seconds{request_.timeout / 4})});
      const std::string where = to_string(client.place());
      RINGSIDE_TRY(const bool has_answered, poll(client, where));
      if (!has_answered) continue;
      client_ = client;
      return {};
    }
    return {};
  }

  /// Asks a service until its counts move, or do not move for long enough.
  /// returns  whether it gave a report
  Result<bool> poll(const RasClient& client, const std::string& where) {
    const auto show = [&](const std::vector<JobReport>& reports, int same) {
      step(fmt::format("status {}: report {}, {}", where, reports.size(),
                       same > 1             ? "nothing has moved since the one before"
                       : reports.size() > 1 ? "ranks move"
                                            : size_text(reports.back())));
    };
    PolledReports polled = poll_reports(client, request_.reports, in_ns(request_.interval),
                                        {.answer = deadline_, .next_report = end_of_polls()}, show);
    if (polled.reports.empty()) {
      add_failure("status", where, *polled.failure);
      return false;
    }
    all_.state = polled.state;
    add_source(
        {"status", where, true,
         fmt::format("{}, {} {}{}", size_text(polled.reports.back()), polled.reports.size(),
                     polled.reports.size() == 1 ? "report" : "reports", state_text(polled.same))});
    RINGSIDE_TRY(keep_reports(polled));
    all_.newest = std::move(polled.reports.back());
    return true;
  }

  [[nodiscard]] std::string state_text(int same) const {
    switch (all_.state) {
      case JobState::Moves:
        return ": ranks move";
      case JobState::Still:
        return fmt::format(": nothing moved in the last {}", same);
      case JobState::Gone:
        return ": then the service was gone";
      case JobState::Unknown:
        break;
    }
    return ": too few to see whether ranks move";
  }

  static std::string size_text(const JobReport& report) {
    if (!report.parsed) return "a report in text";
    std::size_t ranks = 0;
    std::size_t missing = 0;
    for (const hang::RasCommunicator& one : report.parsed->communicators) {
      ranks = std::max(ranks, one.members.size());
      missing = std::max(missing, static_cast<std::size_t>(std::ranges::count(
                                      one.members, true, &hang::RasMember::is_missing)));
    }
    return fmt::format("{} ranks{}", ranks,
                       missing == 0 ? "" : fmt::format(", {} of them without an answer", missing));
  }

  /// Keeps the reports. Of a job that no longer moves, the earlier reports are omitted: they show that it moved then.
  Status keep_reports(const PolledReports& polled) {
    const std::vector<JobReport>& reports = polled.reports;
    const std::size_t kept =
        polled.state == JobState::Still ? static_cast<std::size_t>(polled.same) : reports.size();
    for (std::size_t i = reports.size() - kept; i < reports.size(); ++i) {
      const RasAnswer& answer = reports[i].answer;
      RINGSIDE_TRY(
          keep(fmt::format("ncclras-{}.{}", i + 1, answer.is_json ? "json" : "txt"), answer.text));
    }
    return {};
  }

  /// Adds the ranks that the newest report names, with their processes on this host.
  void find_workers() {
    if (!all_.newest || !all_.newest->parsed) return;
    const std::string this_host = host_name("");
    std::set<std::int64_t> seen;
    for (const hang::RasCommunicator& communicator : all_.newest->parsed->communicators) {
      for (const hang::RasMember& member : communicator.members) {
        if (member.global < 0 || workers_.size() >= kMostRanks) continue;
        Worker& one = worker(member.global);
        if (!member.control_plane.empty() && !one.control_plane) {
          one.control_plane = plane_of(member.control_plane);
        }
        nranks_ = std::max(nranks_, communicator.size);
        if (one.pid >= 0 || member.host.empty() || member.host != this_host) continue;
        one.pid = member.pid;
        one.is_of_this_host = true;
        one.process = read_process(member.pid);
        // A process of another container may have the same number here.
        if (one.process) add_worker_socket(one);
      }
    }
  }

  /// Adds the ranks among the processes of --pid and their children.
  void find_processes() {
    std::vector<JobProcess> ranks;
    for (const std::int64_t pid : request_.pids) {
      const std::vector<JobProcess> found = job_processes(pid);
      if (found.empty()) {
        add_failure("process", fmt::format("pid {}", pid),
                    Error{ErrorCode::NotFound, "there is no such process on this host"});
      }
      for (const JobProcess& one : found) {
        if (stacks_.size() >= kMostPids) break;
        const int rank = one.launch ? one.launch->rank : -1;
        StackOf stack{one.pid, rank};
        stack.is_stopped = one.facts.state == 'T' || one.facts.state == 't';
        stacks_.push_back(stack);
        if (!one.launch) continue;
        Worker& known = worker(rank);
        known.pid = one.pid;
        known.process = one.facts;
        known.is_of_this_host = true;
        nranks_ = std::max(nranks_, one.launch->nranks);
        add_worker_socket(known);
        ranks.push_back(one);
      }
      if (found.size() > 1 || (found.size() == 1 && found.front().pid != pid)) {
        add_source(
            {"process", fmt::format("pid {}", pid), true,
             fmt::format("runs {} of the job",
                         found.size() == 1 ? "a rank" : fmt::format("{} ranks", found.size()))});
      }
    }
    for (const int rank : ranks_without_process(ranks)) {
      Worker& gone = worker(rank);
      if (gone.pid < 0) gone.is_of_this_host = true;
    }
  }

  /// Keeps what /proc shows of the ranks of this host: where they run, and which are stopped or have ended.
  Status keep_processes() {
    const std::string host = host_name("localhost");
    std::string lines;
    std::size_t present = 0;
    std::vector<const Worker*> gone;
    for (auto& [rank, one] : workers_) {
      if (!one.is_of_this_host) continue;
      if (one.pid >= 0) one.process = read_process(one.pid);
      if (!one.process) {
        gone.push_back(&one);
        continue;
      }
      ++present;
      lines += fmt::format("attach: rank {} of {} is process {} on {}, state {} ({})\n", rank,
                           std::max(nranks_, rank + 1), one.pid, one_line(host), one.process->state,
                           describe_state(one.process->state));
      if (one.is_stopped()) {
        add_source({"process", fmt::format("rank {}, pid {}", rank, one.pid), true,
                    "is stopped (by a signal or a debugger)"});
      }
    }
    // In another container the process ids of a report mean other processes: most must be here. A rank that a launcher of
    // this host runs has no process id, and needs no such check.
    const auto is_of_report = [](const Worker* one) { return one->pid >= 0; };
    if (static_cast<std::ptrdiff_t>(present) <= std::ranges::count_if(gone, is_of_report)) {
      std::erase_if(gone, is_of_report);
    }
    for (const Worker* one : gone) {
      const std::string why = one->pid >= 0 ? fmt::format("process {} has ended", one->pid)
                                            : "its launcher runs none for it";
      lines += fmt::format("attach: rank {} of {} has no process on {}: {}\n", one->rank,
                           std::max(nranks_, one->rank + 1), one_line(host), why);
      add_source({"process", fmt::format("rank {}", one->rank), true, why});
    }
    return lines.empty() ? Status() : keep("processes.log", lines);
  }

  /// Returns the place of a rank's dumps, which the service itself serves. Only the path of its address is used: a report
  /// cannot make this program connect to another place.
  [[nodiscard]] std::optional<Place> plane_of(const std::string& address) const {
    const auto place = parse_place(address);
    if (!place || !client_) return std::nullopt;
    Place own = client_->place();
    own.path = place->path;
    return own;
  }

  /// Sets the control plane from the process's variables, unless it is known.
  static void add_worker_socket(Worker& one) {
    const auto socket = one.process->variables.find("TORCH_WORKER_SERVER_SOCKET");
    if (one.control_plane || socket == one.process->variables.end()) return;
    // As the process sees the path: in its container or root folder.
    const std::string path =
        (socket->second.starts_with('/') ? one.process->folder + "/root" : "") + socket->second;
    if (auto place = parse_place("unix:" + path)) one.control_plane = *std::move(place);
  }

  /// Asks the job's store for the addresses of the control planes, by rank.
  Status ask_store() {
    if (!request_.store) return {};
    const Place place{*request_.store, {}};
    const std::string where = to_string(place);
    const Patience patience = Patience(deadline_).at_most(kForOne);
    auto store = StoreClient::open(place, patience);
    if (!store) {
      add_failure("store", where, store.error());
      return {};
    }
    std::size_t found = 0;
    for (const char* prefix : kStorePrefixes) {
      for (std::size_t rank = 0; rank < kMostRanks && found == rank; ++rank) {
        auto value = store->get(fmt::format("{}rank{}", prefix, rank), patience);
        if (!value) {
          add_failure("store", where, value.error());
          return {};
        }
        if (!*value) break;
        auto worker_place = parse_place(**value);
        ++found;
        if (worker_place) worker(static_cast<int>(rank)).control_plane = *std::move(worker_place);
      }
      if (found > 0) break;
    }
    if (found == 0) {
      add_source({"store", where, false, "no debug server is registered (start_debug_server())"});
    } else {
      add_source({"store", where, true, fmt::format("{} workers", found)});
    }
    return {};
  }

  /// If no service gave reports: polls some control planes for their dumps, until calls begin or end, or do not for long
  /// enough. All ranks of a job take part in its calls, so a few ranks show whether it moves.
  Status poll_dumps() {
    if (client_) return {};
    std::vector<Sample> samples;
    for (const auto& [rank, one] : workers_) {
      if (one.control_plane && !one.is_stopped()) samples.push_back({&one, {}, {}});
    }
    samples = some_of(std::move(samples));
    Movement movement(request_.reports);
    for (int round = 1; !samples.empty() && movement.state() == JobState::Unknown; ++round) {
      const Clock::Time asked = real_clock().now();
      const JobReport report = ask_samples(samples);
      if (samples.empty()) break;
      movement.add(report);
      step(fmt::format("dumps of {} ranks, round {}: {}", samples.size(), round,
                       round == 1            ? "asked"
                       : movement.same() > 1 ? "no call began or ended since the one before"
                                             : "ranks move"));
      const Clock::Time next = asked + in_ns(request_.interval);
      if (movement.state() != JobState::Unknown || next >= end_of_polls().at()) break;
      real_clock().sleep_until(next);
    }
    all_.state = movement.state();
    return all_.state == JobState::Moves ? keep_samples(samples) : Status();
  }

  /// Asks the processes once more, and removes those that do not answer.
  /// returns  a report that changes when one of them begins or ends a call
  JobReport ask_samples(std::vector<Sample>& samples) const {
    for_each_at_once(samples.size(), kMostAtOnce, [&](std::size_t i) {
      samples[i].last = ask_for_dump(*samples[i].worker->control_plane, deadline_).body;
      if (samples[i].first.empty()) samples[i].first = samples[i].last;
    });
    hang::Names names;
    JobReport report;
    std::erase_if(samples, [&](const Sample& one) {
      const auto dump = hang::parse_dump(one.last, names);
      if (dump) report.fingerprint += fingerprint_of(*dump);
      return !dump;
    });
    return report;
  }

  /// Keeps the first and the last dump of each process, which together show that the rank has moved.
  Status keep_samples(const std::vector<Sample>& samples) {
    for (const Sample& one : samples) {
      const int rank = one.worker->rank;
      RINGSIDE_TRY(keep(fmt::format("nccl_trace_earlier_rank_{}.json", rank), one.first));
      RINGSIDE_TRY(keep(fmt::format("nccl_trace_rank_{}.json", rank), one.last));
      add_source({"dump", fmt::format("rank {} at {}", rank, to_string(*one.worker->control_plane)),
                  true, fmt::format("{} bytes", one.last.size())});
    }
    return {};
  }

  /// Asks all processes for their dumps and stacks, some at a time.
  Status ask_workers() {
    std::vector<const Worker*> asked;
    for (const auto& [rank, one] : workers_) {
      if (one.control_plane || (request_.uses_pipes && one.process)) asked.push_back(&one);
    }
    std::vector<std::vector<Source>> sources(asked.size());
    std::size_t done = 0;
    for_each_at_once(asked.size(), kMostAtOnce, [&](std::size_t i) {
      sources[i] = ask_worker(*asked[i]);
      const std::scoped_lock lock(mutex_);
      step(fmt::format("dumps: {} of {} processes asked", ++done, asked.size()));
    });
    for (const std::vector<Source>& own : sources) {
      all_.sources.insert(all_.sources.end(), own.begin(), own.end());
    }
    return std::exchange(write_failure_, {});
  }

  /// Asks the control plane of one process, then, if it gave no dump, its pipe.
  /// Threads  several, each for another rank
  std::vector<Source> ask_worker(const Worker& one) {
    std::vector<Source> sources;
    if (one.control_plane) sources = ask_control_plane(one);
    const bool has_dump = !sources.empty() && sources.front().has_answered;
    if (!has_dump && request_.uses_pipes && one.process) sources.push_back(ask_pipe(one));
    return sources;
  }

  /// returns  the answer for the dump, then the one for the stack if it was asked for
  std::vector<Source> ask_control_plane(const Worker& one) {
    std::vector<Source> sources;
    const std::string where = fmt::format("rank {} at {}", one.rank, to_string(*one.control_plane));
    const auto keep_answer = [&](const char* what, const ControlAnswer& answer,
                                 const std::string& name) {
      if (!answer.body.empty()) save(name, answer.body);
      sources.push_back({what, where, !answer.body.empty(), answer.said});
    };
    const ControlAnswer dump = ask_for_dump(*one.control_plane, deadline_);
    keep_answer("dump", dump, fmt::format("nccl_trace_rank_{}.json", one.rank));
    if (!dump.is_reached || !one.control_plane->path.empty()) return sources;
    keep_answer("stack", ask_for_stack(*one.control_plane, deadline_),
                fmt::format("stack_rank_{}.txt", one.rank));
    if (sources.back().has_answered) {
      const std::scoped_lock lock(mutex_);
      ranks_with_stack_.insert(one.rank);
    }
    return sources;
  }

  Source ask_pipe(const Worker& one) {
    const auto dump = dump_by_pipe(*one.process, one.rank, deadline_.within(kForOne));
    const std::string where = fmt::format("rank {}, pid {}", one.rank, one.pid);
    if (!dump) return {"pipe", where, false, one_line(dump.error().message)};
    save(fmt::format("nccl_trace_rank_{}", one.rank), *dump);
    return {"pipe", where, true, fmt::format("{} bytes", dump->size())};
  }

  /// Keeps a file. An error is returned by ask_workers().
  /// Threads  several
  void save(const std::string& name, const std::string& bytes) {
    const std::scoped_lock lock(mutex_);
    if (const Status kept = keep(name, bytes); !kept) write_failure_ = kept;
  }

  Status ask_diagnostics() {
    if (!client_) return {};
    const std::string where = to_string(client_->place());
    auto text = client_->diagnostics(Patience(deadline_));
    if (!text) {
      add_failure("diagnostics", where, text.error());
      return {};
    }
    add_source(
        {"diagnostics", where, true, fmt::format("{} lines", std::ranges::count(*text, '\n'))});
    return keep("diagnostics.log", *text);
  }

  /// Reads the stacks that no control plane gave. Debuggers are slow to load: they have a time of their own, and several
  /// run at the same time.
  Status read_stacks() {
    std::erase_if(stacks_,
                  [&](const StackOf& one) { return ranks_with_stack_.contains(one.rank); });
    std::vector<Result<ProcessText>> texts(stacks_.size(), Error{ErrorCode::System, "not read"});
    for_each_at_once(stacks_.size(), kMostDebuggers, [&](std::size_t i) {
      texts[i] = stack_of(stacks_[i].pid, deadline_in(kForStack), stacks_[i].is_stopped);
      const std::scoped_lock lock(mutex_);
      step(fmt::format("stack {}: {}", name_of(stacks_[i]), texts[i] ? "read" : "not read"));
    });
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      if (!texts[i]) {
        add_failure("stack", name_of(stacks_[i]), texts[i].error());
        continue;
      }
      add_source({"stack", name_of(stacks_[i]), true,
                  fmt::format("{} bytes by {}", texts[i]->text.size(), texts[i]->tool)});
      RINGSIDE_TRY(keep(stack_file(stacks_[i]), texts[i]->text));
    }
    return {};
  }

  [[nodiscard]] static std::string name_of(const StackOf& one) {
    return one.rank < 0 ? fmt::format("pid {}", one.pid)
                        : fmt::format("rank {}, pid {}", one.rank, one.pid);
  }

  /// Returns the name of the file for a stack, with the rank if it is known.
  [[nodiscard]] std::string stack_file(const StackOf& one) const {
    if (one.rank >= 0) return fmt::format("stack_rank_{}.txt", one.rank);
    for (const auto& [rank, known] : workers_) {
      if (known.pid == one.pid) return fmt::format("stack_rank_{}.txt", rank);
    }
    return fmt::format("stack_pid_{}.txt", one.pid);
  }

  const Request& request_;
  const std::string folder_;
  const OnStep& on_step_;
  const Deadline deadline_;
  std::optional<RasClient> client_;
  std::map<int, Worker> workers_;
  std::vector<StackOf> stacks_;
  int nranks_ = 0;  ///< of the job, as far as it is known
  std::optional<Error> first_error_;
  std::mutex mutex_;                ///< while several threads ask: guards the next two and all_
  std::set<int> ranks_with_stack_;  ///< whose control plane gave a stack
  Status write_failure_;
  Gathered all_;
};

}  // namespace

Result<Gathered> gather(const Request& request, const std::string& folder, const OnStep& on_step) {
  if (request.pids.size() > kMostPids) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} processes", request.pids.size()),
                 fmt::format("give --pid at most {} times", kMostPids)};
  }
  return Gatherer(request, folder, on_step).run();
}

}  // namespace ringside::attach
