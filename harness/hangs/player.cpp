#include "harness/hangs/player.h"

#include <algorithm>
#include <deque>
#include <map>
#include <span>

#include "base/random.h"

namespace ringside::hangs {
namespace {

// Times on hosts of unknown type, in ns. Their order of magnitude is enough for a hang.
constexpr std::int64_t kCallTime = 10'000;        ///< the host's time to enqueue a call
constexpr std::int64_t kKernelTime = 20'000;      ///< of a call without data
constexpr std::int64_t kBytesPerNanosecond = 50;  ///< of a call's data
/// A root's data up to this size fits into slots, so that the root does not wait for the other ranks.
constexpr std::uint64_t kEagerBytes = 65536;
/// Number of kernels that a GPU queues before a launch waits.
constexpr int kLaunchQueue = 1000;
constexpr int kNoGroup = -2;  ///< of streams that belong to no group: other kernels, named streams

// The spread of times, unless they are even: between ranks at the start, of a kernel, and of a call's end on each rank.
constexpr std::int64_t kStartSpread = 2'000'000;
constexpr std::int64_t kLeastPercent = 90, kMostPercent = 115;
constexpr std::int64_t kEndSpread = 3000;

/// A kernel waits for the first `count` kernels of stream `stream`.
struct Dependency {
  int stream = 0;
  int count = 0;
};

/// A kernel, or calls that begin together, in a stream's queue.
struct Queued {
  /// The call's number; the first one's if several begin together; -1: a kernel that is not a call
  int record = 0;
  int calls = 1;           ///< number of calls that begin together
  int done = 0;            ///< number of those that are done
  std::int64_t end = 0;    ///< end time of the last of those
  std::int64_t ready = 0;  ///< time at which the host had enqueued it
  std::int64_t time = 0;   ///< duration of a kernel that is not a call
  int iteration = 0;
  std::vector<Dependency> after = {};
  bool has_arrived = false;
};

struct Stream {
  int name = -1;  ///< index in the program's list; -1: the stream belongs to a group
  int group = 0;  ///< kNoGroup: the stream of kernels that are not calls, or a named stream
  int peer = -1;  ///< for a stream of transfers: rank in the group
  std::vector<int> groups = {};  ///< groups whose calls used the stream
  std::deque<Queued> queue;      ///< not completed yet; only the first can run
  int enqueued = 0;
  std::vector<std::int64_t> ends;  ///< end times of the completed kernels
  std::int64_t free_at = 0;

  [[nodiscard]] int completed() const { return static_cast<int>(ends.size()); }
};

struct RankState {
  int iteration = 0;
  std::size_t next = 0;  ///< next step of the body
  std::int64_t time = 0;
  bool is_done = false;
  bool is_queued = false;  ///< whether the rank is on the work list
  int rendezvous = -1;     ///< the rendezvous in which it waits; -1: none
  int in_flight = 0;       ///< kernels and calls that are enqueued and not complete
  std::vector<Stream> streams;
  std::vector<int> waited;  ///< [stream]: kernels that the main stream waits for
  /// By group and peer; used if streams have names
  std::map<std::pair<int, int>, Dependency> last_calls;
  std::vector<int> collectives, transfers;  ///< [family]: sequence numbers given so far
};

/// One rank's part of a call.
struct Member {
  int rank = 0;
  int stream = 0;
  int record = 0;
  bool is_gone = false;  ///< completed before the others
};

/// The k-th call of a group, and the ranks that have entered it.
struct Instance {
  std::vector<Member> members;
  const Step* first = nullptr;  ///< the call of the first member
  bool is_broken = false;       ///< it never ends: members disagree, or the network drops it
  std::int64_t ready = 0;       ///< time at which the last member entered
};

struct GroupState {
  std::deque<Instance> instances;  ///< the calls from sequence number `base` on
  int base = 1;
  int waiting_hosts = 0;  ///< ranks in the rendezvous
  int rounds = 0;         ///< rendezvous that all ranks have reached
  std::int64_t rendezvous_time = 0;
  /// By sender and receiver (ranks in the group): the members whose stream has reached the call.
  std::map<std::pair<int, int>, std::deque<Member>> sends, receives;
};

class Player {
 public:
  Player(const Program& program, const NetworkFault& network, std::uint64_t seed,
         const PlayTimes& times)
      : program_(program), network_(network), random_(seed), times_(times) {
    const auto ranks = static_cast<std::size_t>(program.ranks);
    play_.ranks.resize(ranks);
    states_.resize(ranks);
    groups_.resize(program.groups.size());
    for (int rank = 0; rank < program.ranks; ++rank) {
      RankState& state = states_[static_cast<std::size_t>(rank)];
      state.collectives.resize(program.families.size());
      state.transfers.resize(program.families.size());
      if (!times.is_even) state.time = random_.between(0, kStartSpread);
      const RankProgram& own = program.programs[static_cast<std::size_t>(rank)];
      play_.ranks[static_cast<std::size_t>(rank)].records.reserve(
          own.body.size() * static_cast<std::size_t>(own.iterations));
      push(rank);
    }
  }

  Play run() {
    while (!work_.empty()) {
      const int rank = work_.front();
      work_.pop_front();
      state(rank).is_queued = false;
      advance_host(rank);
      start_kernels(rank);
    }
    return std::move(play_);
  }

 private:
  RankState& state(int rank) { return states_[static_cast<std::size_t>(rank)]; }
  RankHistory& history(int rank) { return play_.ranks[static_cast<std::size_t>(rank)]; }
  GroupState& group_state(int group) { return groups_[static_cast<std::size_t>(group)]; }
  [[nodiscard]] const Group& group_of(int group) const {
    return program_.groups[static_cast<std::size_t>(group)];
  }
  Record& record_of(const Member& member) {
    return history(member.rank).records[static_cast<std::size_t>(member.record)];
  }
  Stream& stream_of(const Member& member) {
    return state(member.rank).streams[static_cast<std::size_t>(member.stream)];
  }

  void push(int rank) {
    if (state(rank).is_queued) return;
    state(rank).is_queued = true;
    work_.push_back(rank);
  }

  // --- the host -------------------------------------------------------------------------------

  void advance_host(int rank) {
    RankState& own = state(rank);
    const RankProgram& program = program_.programs[static_cast<std::size_t>(rank)];
    while (!own.is_done) {
      if (own.iteration >= program.iterations) {
        own.is_done = true;
        set_end(rank, RankEnd::Host::Finished, nullptr);
        return;
      }
      const std::vector<Step>& body = program.body_of(own.iteration);
      if (own.next >= body.size()) {
        ++own.iteration;
        own.next = 0;
        continue;
      }
      const std::size_t length = bundle_length(body, own.next);
      if (!do_step(rank, {body.data() + own.next, length})) return;
      own.next += length;
    }
  }

  /// steps    one step, or steps that begin together
  /// returns  whether the host has passed them
  bool do_step(int rank, std::span<const Step> steps) {
    const Step& step = steps.front();
    RankState& own = state(rank);
    switch (step.kind) {
      case Step::Kind::Compute:
        own.time += varied(step.time.count());
        return true;
      case Step::Kind::Kernel:
      case Step::Kind::Call:
        if (own.in_flight >= kLaunchQueue) {
          set_end(rank, RankEnd::Host::WaitsForGpu, &step);
          return false;
        }
        enqueue(rank, steps);
        return true;
      case Step::Kind::Join:
        wait_for_calls(own, step);
        return true;
      case Step::Kind::Synchronize:
        return synchronize(rank, step);
      case Step::Kind::Rendezvous:
        return rendezvous(rank, step);
      case Step::Kind::Halt:
        break;
    }
    own.is_done = true;
    set_end(rank, RankEnd::Host::Halted, &step);
    history(rank).end.halt = step.halt;
    return false;
  }

  /// Notes what the host does from now on, and at which step.  step  null: it has finished
  void set_end(int rank, RankEnd::Host host, const Step* step) {
    RankEnd& end = history(rank).end;
    end.host = host;
    end.site = step != nullptr ? step->site : -1;
    end.group = step != nullptr ? step->group : -1;
    end.host_time = state(rank).time;
  }

  static void wait_for_calls(RankState& own, const Step& join) {
    for (std::size_t s = 0; s < own.streams.size(); ++s) {
      const Stream& stream = own.streams[s];
      if (join.group >= 0 && std::ranges::find(stream.groups, join.group) == stream.groups.end())
        continue;
      if (join.stream >= 0 && stream.name != join.stream) continue;
      own.waited[s] = stream.enqueued;
    }
  }

  bool synchronize(int rank, const Step& step) {
    RankState& own = state(rank);
    if (own.in_flight > 0) {
      set_end(rank, RankEnd::Host::WaitsForGpu, &step);
      return false;
    }
    for (const Stream& stream : own.streams) own.time = std::max(own.time, stream.free_at);
    return true;
  }

  bool rendezvous(int rank, const Step& step) {
    RankState& own = state(rank);
    GroupState& shared = group_state(step.group);
    if (own.rendezvous >= 0) {
      if (shared.rounds == own.rendezvous) return false;
      own.rendezvous = -1;
      own.time = std::max(own.time, shared.rendezvous_time);
      return true;
    }
    own.rendezvous = shared.rounds;
    set_end(rank, RankEnd::Host::WaitsForHost, &step);
    shared.rendezvous_time = std::max(shared.rendezvous_time, own.time + kCallTime);
    const std::vector<int>& members = group_of(step.group).ranks;
    if (++shared.waiting_hosts < static_cast<int>(members.size())) return false;
    shared.waiting_hosts = 0;
    ++shared.rounds;
    for (const int member : members) push(member);
    return false;
  }

  void enqueue(int rank, std::span<const Step> steps) {
    int first = -1;
    for (const Step& step : steps) {
      if (step.kind != Step::Kind::Call) break;
      const int record = enqueue_record(rank, step, &step == steps.data());
      if (first < 0) first = record;
    }
    enqueue_on(rank, steps, first);
  }

  /// is_first  whether it is the first of steps that begin together: such sends and receives have one number
  int enqueue_record(int rank, const Step& step, bool is_first) {
    RankState& own = state(rank);
    const auto family = static_cast<std::size_t>(group_of(step.group).family);
    if (is_p2p(step.op)) {
      if (is_first) ++own.transfers[family];
    } else {
      ++own.collectives[family];
    }
    Record record;
    record.step = &step;
    record.created = own.time;
    record.collective_seq = own.collectives[family];
    record.p2p_seq = own.transfers[family];
    record.iteration = own.iteration;
    history(rank).records.push_back(record);
    return static_cast<int>(history(rank).records.size()) - 1;
  }

  void enqueue_on(int rank, std::span<const Step> steps, int record) {
    const Step& step = steps.front();
    RankState& own = state(rank);
    const int stream = stream_of(own, step);
    const auto index = static_cast<std::size_t>(stream);
    Queued queued{
        .record = record,
        .calls = static_cast<int>(steps.size()),
        .ready = own.time + kCallTime / 2,  // the launch reaches the GPU before the host returns
        .time = record < 0 ? varied(step.time.count()) : 0,
        .iteration = own.iteration};
    for (std::size_t s = 0; s < own.streams.size(); ++s) {
      if (s != index && own.waited[s] > 0 && !is_done_by(own.streams[s], own.waited[s], own.time)) {
        queued.after.push_back({static_cast<int>(s), own.waited[s]});
      }
    }
    ++own.streams[index].enqueued;
    if (record >= 0 && !program_.streams.empty()) follow_last(own, step, stream, queued);
    own.streams[index].queue.push_back(std::move(queued));
    ++own.in_flight;
    if (!step.async) own.waited[index] = own.streams[index].enqueued;
    own.time += kCallTime;
  }

  /// A communicator's calls run in order, whichever streams they use.
  static void follow_last(RankState& own, const Step& call, int stream, Queued& queued) {
    const Dependency mine{stream, own.streams[static_cast<std::size_t>(stream)].enqueued};
    const int peer = is_of_pair(call) ? call.peer : -1;
    const auto [last, is_first] = own.last_calls.try_emplace({call.group, peer}, mine);
    if (!is_first && last->second.stream != stream) queued.after.push_back(last->second);
    last->second = mine;
  }

  /// Returns whether two ranks have a separate communicator for the call.
  static bool is_of_pair(const Step& call) { return is_p2p(call.op) && call.bundle == 0; }

  /// Returns whether the first `count` kernels are done at the host's time, because the player may be ahead of it.
  static bool is_done_by(const Stream& stream, int count, std::int64_t time) {
    return stream.completed() >= count && stream.ends[static_cast<std::size_t>(count - 1)] <= time;
  }

  static int stream_of(RankState& own, const Step& step) {
    const bool is_call = step.kind == Step::Kind::Call;
    const bool is_named = step.stream >= 0;
    Stream wanted;
    wanted.name = step.stream;
    wanted.group = is_call && !is_named ? step.group : kNoGroup;
    wanted.peer = is_call && is_of_pair(step) && !is_named ? step.peer : -1;
    auto found = std::ranges::find_if(own.streams, [&](const Stream& one) {
      return one.name == wanted.name && one.group == wanted.group && one.peer == wanted.peer;
    });
    if (found == own.streams.end()) {
      own.streams.push_back(std::move(wanted));
      own.waited.push_back(0);
      found = own.streams.end() - 1;
    }
    if (is_call && std::ranges::find(found->groups, step.group) == found->groups.end()) {
      found->groups.push_back(step.group);
    }
    return static_cast<int>(found - own.streams.begin());
  }

  // --- the GPU --------------------------------------------------------------------------------

  void start_kernels(int rank) {
    RankState& own = state(rank);
    for (std::size_t s = 0; s < own.streams.size(); ++s) {
      Stream& stream = own.streams[s];
      if (stream.queue.empty() || stream.queue.front().has_arrived) continue;
      Queued& head = stream.queue.front();
      std::int64_t ready = std::max(head.ready, stream.free_at);
      bool is_ready = true;
      for (const Dependency& dependency : head.after) {
        const Stream& other = own.streams[static_cast<std::size_t>(dependency.stream)];
        if (other.completed() < dependency.count) {
          is_ready = false;
          break;
        }
        ready = std::max(ready, other.ends[static_cast<std::size_t>(dependency.count - 1)]);
      }
      if (!is_ready) continue;
      head.has_arrived = true;
      if (head.record < 0) {
        history(rank).kernels.push_back({ready, ready + head.time, head.iteration});
        leave(rank, stream, ready + head.time);
        continue;
      }
      Member member{rank, static_cast<int>(s), head.record, false};
      // The last member that is done removes it from the queue.
      const int end = head.record + head.calls;
      for (; member.record < end; ++member.record) record_of(member).started = ready;
      for (member.record = head.record; member.record < end; ++member.record) {
        const Record& record = record_of(member);
        if (is_p2p(record.step->op)) {
          enter_transfer(member, *record.step);
        } else {
          enter_collective(member, record);
        }
      }
    }
  }

  void enter_collective(Member member, const Record& record) {
    GroupState& shared = group_state(record.step->group);
    const int place = record.collective_seq - shared.base;
    while (static_cast<int>(shared.instances.size()) <= place) shared.instances.emplace_back();
    Instance& instance = shared.instances[static_cast<std::size_t>(place)];
    if (instance.first == nullptr) {
      instance.first = record.step;
      instance.is_broken = is_hit(record) && network_.by.count() == 0;
    } else if (!agree(*instance.first, *record.step)) {
      instance.is_broken = true;
    }
    instance.members.push_back(member);
    instance.ready = std::max(instance.ready, record.started);
    if (instance.is_broken) return;
    const Step step = *record.step;
    const Group& group = group_of(step.group);
    const std::int64_t busy = kernel_time(step);
    if (instance.members.size() < group.ranks.size()) {
      const std::uint64_t bytes = size_of(step.type).value * static_cast<std::uint64_t>(step.count);
      if (step.op == Op::Broadcast && bytes <= kEagerBytes &&
          group_rank(group, member.rank) == step.peer) {
        instance.members.back().is_gone = true;
        complete(member, record.started, record.started + busy);
      }
      return;
    }
    const std::vector<Member> members = std::move(instance.members);
    const std::int64_t ready = instance.ready;
    const std::int64_t end = ready + busy + (is_hit(record) ? network_.by.count() : 0);
    // A rank is in one call of the group at a time, so the oldest call is complete first.
    shared.instances.pop_front();
    ++shared.base;
    for (const Member& each : members) {
      if (!each.is_gone) complete(each, ready, end + late());
    }
  }

  [[nodiscard]] bool is_hit(const Record& record) const {
    return network_.sender < 0 && record.step->group == network_.group &&
           record.collective_seq == network_.seq;
  }

  [[nodiscard]] bool is_hit(const Member& sender, const Member& receiver) {
    const Record& send = record_of(sender);
    return sender.rank == network_.sender && receiver.rank == network_.receiver &&
           send.step->group == network_.group && send.p2p_seq == network_.seq;
  }

  void enter_transfer(Member member, const Step& step) {
    GroupState& shared = group_state(step.group);
    const int self = group_rank(group_of(step.group), member.rank);
    const bool is_send = step.op == Op::Send;
    const std::pair<int, int> ends =
        is_send ? std::pair(self, step.peer) : std::pair(step.peer, self);
    std::deque<Member>& mine = is_send ? shared.sends[ends] : shared.receives[ends];
    std::deque<Member>& theirs = is_send ? shared.receives[ends] : shared.sends[ends];
    if (theirs.empty()) {
      mine.push_back(member);
      return;
    }
    const Member other = theirs.front();
    const Record& far = record_of(other);
    const Record& near = record_of(member);
    const bool fits = far.step->count == step.count && far.step->type == step.type;
    if (!fits) {
      mine.push_back(member);
      return;
    }
    theirs.pop_front();
    const Member& sender = is_send ? member : other;
    const Member& receiver = is_send ? other : member;
    const bool is_delayed = is_hit(sender, receiver);
    if (is_delayed && network_.by.count() == 0) return;  // both ranks are in the call and wait
    const std::int64_t ready = std::max(far.started, near.started);
    const std::int64_t end = ready +
                             std::max({transfers_time(member), transfers_time(other),
                                       connection_time(sender, receiver)}) +
                             (is_delayed ? network_.by.count() : 0);
    complete(other, ready, end + late());
    complete(member, ready, end + late());
  }

  void complete(const Member& member, std::int64_t ready, std::int64_t time) {
    Record& record = record_of(member);
    record.moving = ready;
    Stream& stream = stream_of(member);
    Queued& head = stream.queue.front();
    head.end = std::max(head.end, time);
    if (++head.done < head.calls) return;
    Member each = member;
    for (int i = 0; i < head.calls; ++i) {
      each.record = head.record + i;
      record_of(each).completed = head.end;
    }
    leave(member.rank, stream, head.end);
  }

  /// Completes the first kernel of the stream.
  void leave(int rank, Stream& stream, std::int64_t time) {
    stream.free_at = time;
    stream.queue.pop_front();
    stream.ends.push_back(time);
    --state(rank).in_flight;
    push(rank);
  }

  std::int64_t varied(std::int64_t time) {
    return times_.is_even ? time : time * random_.between(kLeastPercent, kMostPercent) / 100;
  }
  std::int64_t late() { return times_.is_even ? 0 : random_.below(kEndSpread); }

  [[nodiscard]] std::int64_t kernel_time(const Step& step) const {
    if (times_.call) return times_.call(step, group_of(step.group)).count();
    return usual_time(step).count();
  }

  /// Returns the steps that begin together with the member's record, including its own: consecutive steps of its
  /// program.
  std::span<const Step> bundle_of(const Member& member) {
    const Queued& head = stream_of(member).queue.front();
    const Step* const first =
        history(member.rank).records[static_cast<std::size_t>(head.record)].step;
    return {first, static_cast<std::size_t>(head.calls)};
  }

  /// Returns the time of everything that the rank sends, or receives, together.
  std::int64_t transfers_time(const Member& member) {
    return kernel_time(as_shared(bundle_of(member), *record_of(member).step));
  }

  std::int64_t connection_time(const Member& sender, const Member& receiver) {
    if (!times_.transfer) return 0;
    const Step send = as_shared_by_peer(bundle_of(sender), *record_of(sender).step);
    return times_.transfer(send, group_of(send.group), sender.rank, receiver.rank).count();
  }

  const Program& program_;
  NetworkFault network_;
  Random random_;
  const PlayTimes& times_;
  Play play_;
  std::vector<RankState> states_;
  std::vector<GroupState> groups_;
  std::deque<int> work_;
};

}  // namespace

bool Play::is_hung() const {
  for (const RankHistory& rank : ranks) {
    if (rank.end.host == RankEnd::Host::WaitsForGpu ||
        rank.end.host == RankEnd::Host::WaitsForHost) {
      return true;
    }
    for (const Record& record : rank.records) {
      if (record.completed == kNever) return true;
    }
  }
  return false;
}

Nanoseconds usual_time(const Step& call) {
  const auto bytes = static_cast<std::int64_t>(size_of(call.type).value) * call.count;
  return Nanoseconds{kKernelTime + bytes / kBytesPerNanosecond};
}

Play play(const Program& program, const NetworkFault& network, std::uint64_t seed,
          const PlayTimes& times) {
  return Player(program, network, seed, times).run();
}

}  // namespace ringside::hangs
