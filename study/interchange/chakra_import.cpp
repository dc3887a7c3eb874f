#include "study/interchange/chakra_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "study/interchange/chakra_file.h"

namespace ringside::study {
namespace {

using hangs::Op;
using hangs::OutlineStep;
using OutlineKind = OutlineStep::Kind;

constexpr std::size_t kMostNodes = 10'000'000;  // of one rank; an item takes a few hundred bytes
constexpr int kMostRanks = 65536;               // as for other recordings (recorded_profiles.cpp)
/// Longer times are cut to this one, so that a damaged trace cannot make sums of times overflow.
constexpr std::chrono::hours kLongestNode{24};

/// A node's meaning for a program.
struct Item {
  std::uint64_t id = 0;
  OutlineStep step;
  bool is_nothing = false;  ///< takes no time and is no step; nodes that wait for it do not wait
  std::string group, description;
  std::int64_t bytes = 0;
  std::optional<DataType> type;
  int root = -1, source = -1, target = -1;  ///< ranks of the job; -1: not stated
  std::vector<std::uint64_t> after;         ///< ids of the nodes that it waits for
  // Valid once all nodes are known:
  std::vector<std::size_t> waits;  ///< places of the nodes that it waits for
  int group_number = -1;
  std::int64_t set = 0;  ///< adjacent transfers that began together share it; 0: begins alone

  [[nodiscard]] bool is_call() const {
    return step.kind == OutlineKind::Call || step.kind == OutlineKind::Transfer;
  }
  /// Returns whether the rank runs both on one stream, where each waits for the previous one anyway.
  [[nodiscard]] bool shares_stream(const Item& other) const {
    if (is_of_pair() || other.is_of_pair()) {
      return is_of_pair() == other.is_of_pair() && group == other.group && source == other.source &&
             target == other.target;
    }
    return (is_call() ? other.is_call() : step.kind == other.step.kind) && group == other.group;
  }
  /// Returns whether two ranks have a stream for it alone.
  [[nodiscard]] bool is_of_pair() const { return step.kind == OutlineKind::Transfer && set == 0; }
  [[nodiscard]] bool began_with(const Item& other) const {
    return set != 0 && set == other.set && group == other.group;
  }
};

/// Returns the attribute's integer or boolean; -1 if it has another type.
std::int64_t number_of(const chakra::Attribute& attribute) {
  using Case = chakra::Attribute::ValueCase;
  switch (attribute.value_case()) {
    case Case::kInt32Val:
      return attribute.int32_val();
    case Case::kInt64Val:
      return attribute.int64_val();
    case Case::kUint32Val:
      return attribute.uint32_val();
    case Case::kUint64Val:
      return static_cast<std::int64_t>(attribute.uint64_val());
    case Case::kSint32Val:
      return attribute.sint32_val();
    case Case::kSint64Val:
      return attribute.sint64_val();
    case Case::kBoolVal:
      return attribute.bool_val() ? 1 : 0;
    default:
      return -1;
  }
}

std::optional<Op> op_of_type(std::int64_t type) {
  switch (type) {
    case chakra::ALL_REDUCE:
      return Op::AllReduce;
    case chakra::REDUCE:
      return Op::Reduce;
    case chakra::ALL_GATHER:
      return Op::AllGather;
    case chakra::BROADCAST:
      return Op::Broadcast;
    case chakra::ALL_TO_ALL:
      return Op::AllToAll;
    case chakra::REDUCE_SCATTER:
    case chakra::REDUCE_SCATTER_BLOCK:
      return Op::ReduceScatter;
    case chakra::BARRIER:
      return Op::Barrier;
    default:
      return std::nullopt;
  }
}

/// Returns the rank; -1: the number cannot be a rank.
int to_rank(std::int64_t number) {
  return number < 0 || number >= kMostRanks ? -1 : static_cast<int>(number);
}

/// The attributes of a node that decide its meaning, but are not part of it.
struct NodeTraits {
  std::int64_t collective = 0;  ///< chakra::CollectiveCommType
  bool is_on_host = false;
};

/// Copies group, size, ranks and time of a node into its item.
NodeTraits read_attributes(const chakra::Node& node, Item& item) {
  NodeTraits traits;
  const std::uint64_t longest_us = std::chrono::microseconds{kLongestNode}.count();
  item.step.time = std::chrono::microseconds{std::min(node.duration_micros(), longest_us)};
  for (const chakra::Attribute& attribute : node.attr()) {
    const std::string& name = attribute.name();
    const std::int64_t number = number_of(attribute);
    if (name == "comm_size") item.bytes = number;
    if (name == "comm_type") traits.collective = number;
    if (name == "comm_src") item.source = to_rank(number);
    if (name == "comm_dst") item.target = to_rank(number);
    if (name == "root_rank") item.root = to_rank(number);
    if (name == "is_cpu_op") traits.is_on_host = number == 1;
    if (name == "group_call" && number > 0) item.set = number;
    if (name == "pg_name") item.group = attribute.string_val();
    if (name == "pg_desc") item.description = attribute.string_val();
    if (name == "data_type") {
      if (const auto known = parse_data_type(attribute.string_val())) item.type = *known;
    }
    if (name == "duration_nanos" && number >= 0) {
      item.step.time = std::min(Nanoseconds{number}, Nanoseconds{kLongestNode});
    }
  }
  return traits;
}

/// Asynchronous calls that no node has waited for yet: place among the items -> place among the rank's calls.
using OpenCalls = std::map<std::size_t, std::size_t>;

/// The nodes of one rank, in an order in which each comes after the nodes that it waits for.
class RankImport {
 public:
  RankImport(const GivenFile& file, int rank, RecordedJob& job)
      : file_(file), rank_(rank), job_(job) {}

  Status read() {
    RINGSIDE_TRY(
        read_chakra(file_.bytes, file_.name, [&](const chakra::Node& node) { return take(node); }));
    return sort();
  }

  [[nodiscard]] std::vector<Item>& items() { return items_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const std::string& name() const { return file_.name; }

  /// Writes the program's steps: calls, and the rank's work before each. The items' groups are known.
  /// errors  Corrupt: a root or an end of a transfer that is not in the call's group
  Status write(RecordedRank& own) {
    own.is_silent = false;
    std::vector<OutlineStep> before;
    OpenCalls open;
    std::map<int, std::int64_t> numbers;  // by group: that of its next call
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.is_nothing) continue;
      join(i, open, own, before);
      if (!item.is_call()) {
        if (item.step.time.count() > 0) before.push_back(item.step);
        continue;
      }
      RecordedCall call{.step = item.step, .group = item.group_number};
      const RecordedGroup& group = job_.groups[static_cast<std::size_t>(item.group_number)];
      RINGSIDE_TRY(describe(item, group, call));
      call.step.async = is_async(i);
      call.is_of_set = item.set != 0;
      call.sequence = -item.set;  // the rank's own number, unknown to others
      if (call.step.async) open.emplace(i, own.calls.size());
      call.before = std::exchange(before, {});
      if (call.step.kind != OutlineKind::Transfer) call.number = numbers[call.group]++;
      own.calls.push_back(std::move(call));
    }
    own.after = std::move(before);
    return {};
  }

 private:
  [[nodiscard]] Error bad(std::uint64_t id, const std::string& what,
                          const std::string& help) const {
    return {ErrorCode::Corrupt, fmt::format("{}: node {}: {}", file_.name, id, what), help};
  }

  Status take(const chakra::Node& node) {
    if (items_.size() >= kMostNodes) {
      return bad(node.id(), fmt::format("more than {} nodes", kMostNodes), "give a shorter trace");
    }
    Item item;
    item.id = node.id();
    for (const std::uint64_t id : node.data_deps()) item.after.push_back(id);
    for (const std::uint64_t id : node.ctrl_deps()) item.after.push_back(id);
    const NodeTraits traits = read_attributes(node, item);
    switch (node.type()) {
      case chakra::COMP_NODE:
      case chakra::MEM_LOAD_NODE:
      case chakra::MEM_STORE_NODE:
        set_work(traits, item);
        break;
      case chakra::COMM_COLL_NODE:
        set_collective(traits, item);
        break;
      case chakra::COMM_SEND_NODE:
      case chakra::COMM_RECV_NODE:
        RINGSIDE_TRY(set_transfer(node.type() == chakra::COMM_SEND_NODE, item));
        break;
      default:
        item.is_nothing = true;
    }
    const bool needs_bytes = item.is_call() && !item.is_nothing && item.step.op != Op::Barrier;
    if (needs_bytes && item.bytes < 1) {
      return bad(node.id(), "a call without its size", "comm_size is its bytes on a rank");
    }
    if (item.is_call()) item.step.time = {};
    items_.push_back(std::move(item));
    return {};
  }

  void set_work(const NodeTraits& traits, Item& item) const {
    item.step.kind = traits.is_on_host ? OutlineKind::Compute : OutlineKind::Kernel;
    if (item.step.time.count() == 0 && !traits.is_on_host) {
      job_.note("nodes without a duration take no time");
    }
  }

  void set_collective(const NodeTraits& traits, Item& item) const {
    const auto op = op_of_type(traits.collective);
    item.is_nothing = !op;
    if (!op) {
      job_.note(fmt::format("collectives of type {} are omitted: programs cannot express them",
                            traits.collective));
    }
    item.step.op = op.value_or(Op::AllReduce);
  }

  Status set_transfer(bool is_send, Item& item) const {
    item.step.kind = OutlineKind::Transfer;
    int& self = is_send ? item.source : item.target;
    const int other = is_send ? item.target : item.source;
    if (self < 0) self = rank_;
    if (self == rank_ && other >= 0 && other != rank_) return {};
    return bad(item.id, fmt::format("a transfer from {} to {}", item.source, item.target),
               "comm_src and comm_dst are ranks of the job, one of them the file's");
  }

  /// Sorts the items in the file's order, as far as their dependencies allow, and finds the places they wait for.
  Status sort() {
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!places.try_emplace(items_[i].id, i).second) {
        return bad(items_[i].id, "its number occurs twice", "each node has one of its own");
      }
    }
    std::vector<std::vector<std::size_t>> next(items_.size());
    std::vector<std::size_t> waits(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      for (const std::uint64_t id : std::set(items_[i].after.begin(), items_[i].after.end())) {
        const auto place = places.find(id);
        if (place == places.end()) {
          job_.note("nodes wait for nodes that the trace does not hold: these waits are omitted");
          continue;
        }
        next[place->second].push_back(i);
        ++waits[i];
      }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (waits[i] == 0) ready.push(i);
    }
    std::vector<Item> sorted;
    std::vector<std::size_t> place_of(items_.size());
    while (!ready.empty()) {
      const std::size_t i = ready.top();
      ready.pop();
      place_of[i] = sorted.size();
      sorted.push_back(std::move(items_[i]));
      for (const std::size_t other : next[i]) {
        if (--waits[other] == 0) ready.push(other);
      }
    }
    if (sorted.size() < items_.size()) {
      const auto stuck = std::ranges::find_if(waits, [](std::size_t left) { return left > 0; });
      return bad(items_[static_cast<std::size_t>(stuck - waits.begin())].id,
                 "nodes wait for each other in a cycle", "a trace is a graph without cycles");
    }
    for (Item& item : sorted) {
      for (const std::uint64_t id : item.after) {
        if (const auto place = places.find(id); place != places.end()) {
          item.waits.push_back(place_of[place->second]);
        }
      }
    }
    items_ = std::move(sorted);
    return {};
  }

  /// Returns whether the GPU runs other work during a call: the next node on another stream does not wait for it.
  [[nodiscard]] bool is_async(std::size_t call) const {
    std::set<std::size_t> chain{call};
    for (std::size_t i = call; i > 0 && items_[i - 1].began_with(items_[call]); --i) {
      chain.insert(i - 1);
    }
    for (std::size_t i = call + 1; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.began_with(items_[call])) chain.insert(i);
      if (item.is_nothing || item.step.kind == OutlineKind::Compute || chain.contains(i)) continue;
      const bool waits =
          std::ranges::any_of(item.waits, [&](std::size_t one) { return chain.contains(one); });
      if (!item.shares_stream(items_[call])) return !waits;
      if (waits) chain.insert(i);
    }
    return true;
  }

  /// Adds the step that a node needs before it if it waits for asynchronous calls.
  void join(std::size_t place, OpenCalls& open, RecordedRank& own,
            std::vector<OutlineStep>& before) const {
    const Item& item = items_[place];
    if (item.step.kind == OutlineKind::Compute) {
      if (!waits_for_gpu(item)) return;
      before.push_back({.kind = OutlineKind::Synchronize});
      open.clear();
      return;
    }
    const std::map<int, std::size_t> last = last_awaited(item, open);
    if (last.empty()) return;
    const bool are_all = std::ranges::all_of(open, [&](const auto& one) {
      const auto joined = last.find(items_[one.first].group_number);
      return joined != last.end() && one.first <= joined->second;
    });
    if (are_all) {
      before.push_back({.kind = OutlineKind::Join});
      open.clear();
      return;
    }
    for (const auto& [group, newest] : last) join_group(group, newest, open, own, before);
  }

  /// Returns whether a node on the host waits for work of the GPU.
  [[nodiscard]] bool waits_for_gpu(const Item& item) const {
    return std::ranges::any_of(item.waits, [&](std::size_t one) {
      return !items_[one].is_nothing && items_[one].step.kind != OutlineKind::Compute;
    });
  }

  /// Returns by group the newest open call that the node waits for, apart from the calls of its own stream.
  [[nodiscard]] std::map<int, std::size_t> last_awaited(const Item& item,
                                                        const OpenCalls& open) const {
    std::map<int, std::size_t> last;
    for (const std::size_t one : item.waits) {
      if (!open.contains(one) || items_[one].shares_stream(item)) continue;
      std::size_t& newest = last.try_emplace(items_[one].group_number, one).first->second;
      newest = std::max(newest, one);
    }
    return last;
  }

  /// Joins the group's calls up to `newest`. A join covers all calls of a group that began before it, so it goes before
  /// the group's next open call, if there is one.
  void join_group(int group, std::size_t newest, OpenCalls& open, RecordedRank& own,
                  std::vector<OutlineStep>& before) const {
    const auto is_of_group = [&](const auto& one) {
      return items_[one.first].group_number == group;
    };
    const auto next = std::ranges::find_if(
        open, [&](const auto& one) { return one.first > newest && is_of_group(one); });
    OutlineStep step{.kind = OutlineKind::Join};
    step.is_of_family = true;
    step.family = group;
    (next == open.end() ? before : own.calls[next->second].before).push_back(step);
    std::erase_if(open, [&](const auto& one) { return one.first <= newest && is_of_group(one); });
  }

  /// Sets the call's element type, count, and the ends of a transfer or the root.
  Status describe(const Item& item, const RecordedGroup& group, RecordedCall& call) const {
    OutlineStep& step = call.step;
    step.type = item.type.value_or(DataType::Uint8);
    const auto size = static_cast<std::int64_t>(size_of(step.type).value);
    std::int64_t bytes = item.bytes;
    if (step.op == Op::ReduceScatter) bytes /= static_cast<std::int64_t>(group.members.size());
    constexpr std::int64_t kMostCount = std::int64_t{1} << 40;
    step.count = std::clamp<std::int64_t>((bytes + size - 1) / size, 1, kMostCount);
    if (step.op == Op::Barrier && step.kind == OutlineKind::Call) {
      step.count = 1;
      step.type = DataType::Float32;
    }
    if (step.kind == OutlineKind::Transfer) {
      step.from = group.index_of(item.source);
      step.to = group.index_of(item.target);
      if (step.from < 0 || step.to < 0) {
        return bad(item.id,
                   fmt::format("a transfer from {} to {} in group '{}', which has not both",
                               item.source, item.target, item.group),
                   "comm_src and comm_dst are ranks of the job");
      }
    } else if (hangs::has_root(step.op)) {
      step.from = group.index_of(item.root);
      if (item.root >= 0 && step.from < 0) {
        return bad(
            item.id,
            fmt::format("the root is rank {}, which group '{}' has not", item.root, item.group),
            "root_rank is a rank of the job, one of the group's");
      }
      step.from = std::max(0, step.from);
      if (item.root < 0) job_.note("roots are not in the trace: the first rank of each group");
    }
    return {};
  }

  const GivenFile& file_;
  const int rank_;
  RecordedJob& job_;
  std::vector<Item> items_;
};

/// Returns the last number of the file's name: 12 for `name.12.et`; nothing: there is none, or it is too large.
std::optional<int> rank_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::string file = slash == std::string::npos ? name : name.substr(slash + 1);
  std::size_t end = file.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(file[end - 1])) == 0) --end;
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(file[begin - 1])) != 0) --begin;
  const auto rank = parse_int(file.substr(begin, end - begin));
  if (!rank || *rank >= kMostRanks) return std::nullopt;
  return static_cast<int>(*rank);
}

using Members = std::map<std::string, std::vector<int>>;

Result<Members> read_groups(const GivenFile& file, int world) {
  const auto bad = [&](const std::string& what) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", file.name, what),
                 R"(such as {"1": [0, 1], "2": [2, 3]}: ranks of the job, by the groups' names)"};
  };
  const auto json = nlohmann::json::parse(file.bytes, nullptr, false);
  if (!json.is_object()) return bad("no JSON object");
  Members groups;
  for (const auto& [name, list] : json.items()) {
    if (!list.is_array() || list.empty()) return bad(fmt::format("group '{}' has no ranks", name));
    std::vector<int>& members = groups[name];
    for (const auto& one : list) {
      if (!one.is_number_unsigned() || one.get<std::uint64_t>() >= static_cast<unsigned>(world)) {
        return bad(fmt::format("group '{}' has a rank that is not one of {}", name, world));
      }
      members.push_back(one.get<int>());
    }
  }
  return groups;
}

/// errors  Corrupt: a name without a rank, two files of one rank, a missing rank
Result<std::vector<const GivenFile*>> files_by_rank(const std::vector<GivenFile>& traces) {
  std::map<int, const GivenFile*> files;
  for (const GivenFile& file : traces) {
    const auto rank = rank_of(file.name);
    if (!rank || !files.try_emplace(*rank, &file).second) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("{}: {}", file.name,
                               rank ? "a second file of its rank" : "no rank in its name"),
                   "the files of a job are called NAME.0.et, NAME.1.et, ..."};
    }
  }
  const int last = files.empty() ? -1 : files.rbegin()->first;
  if (files.empty() || static_cast<std::size_t>(last) + 1 != files.size()) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{} traces, of ranks up to {}", files.size(), last),
                 "give the traces of all ranks, from 0 on"};
  }
  std::vector<const GivenFile*> by_rank;
  for (const auto& [rank, file] : files) by_rank.push_back(file);
  return by_rank;
}

/// Returns by group the ranks that call in it.
Members callers_of(std::vector<RankImport>& ranks) {
  Members callers;
  for (RankImport& rank : ranks) {
    for (const Item& item : rank.items()) {
      if (!item.is_call() || item.is_nothing || item.group.empty()) continue;
      std::vector<int>& list = callers[item.group];
      if (list.empty() || list.back() != rank.rank()) list.push_back(rank.rank());
    }
  }
  return callers;
}

/// The job's groups, by their names in the traces. A group that the file of groups does not list has the ranks that
/// call in it; the group without a name has all ranks.
class GroupNumbers {
 public:
  GroupNumbers(Members given, Members callers, RecordedJob& job)
      : given_(std::move(given)), callers_(std::move(callers)), job_(job) {}

  /// Returns the number of the item's group in the job, which gets the group with its first item.
  int of(const Item& item) {
    const auto [place, is_new] = numbers_.try_emplace(item.group, 0);
    if (is_new) {
      place->second = job_.group_of(item.group, item.description, members_of(item.group));
    }
    return place->second;
  }

 private:
  std::vector<int> members_of(const std::string& group) {
    if (const auto given = given_.find(group); given != given_.end()) return given->second;
    if (group.empty()) {
      std::vector<int> all(job_.ranks.size());
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    job_.note("members of groups: the ranks that call in them");
    return callers_[group];
  }

  Members given_, callers_;
  RecordedJob& job_;
  std::map<std::string, int> numbers_;
};

}  // namespace

Result<RecordedJob> import_chakra(const std::vector<GivenFile>& traces, const GivenFile* groups) {
  RINGSIDE_TRY(const std::vector<const GivenFile*> files, files_by_rank(traces));
  RecordedJob job;
  job.ranks.resize(files.size());
  std::vector<RankImport> ranks;
  ranks.reserve(files.size());
  for (const GivenFile* const file : files) {
    ranks.emplace_back(*file, static_cast<int>(ranks.size()), job);
    RINGSIDE_TRY(ranks.back().read());
  }
  Members given;
  if (groups != nullptr) {
    RINGSIDE_TRY(given, read_groups(*groups, static_cast<int>(files.size())));
  }
  GroupNumbers numbers(std::move(given), callers_of(ranks), job);
  for (RankImport& rank : ranks) {
    for (Item& item : rank.items()) {
      if (!item.is_call() || item.is_nothing) continue;
      item.group_number = numbers.of(item);
      const RecordedGroup& group = job.groups[static_cast<std::size_t>(item.group_number)];
      if (group.index_of(rank.rank()) < 0) {
        return Error{ErrorCode::Corrupt,
                     fmt::format("{}: node {}: group '{}' has not rank {}", rank.name(), item.id,
                                 item.group, rank.rank()),
                     "the file of the groups is of another job"};
      }
    }
    RINGSIDE_TRY(rank.write(job.ranks[static_cast<std::size_t>(rank.rank())]));
  }
  return job;
}

}  // namespace ringside::study
