#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/recordings/formats.h"
#include "diag/hangdetect/recordings/lines.h"
#include "diag/hangdetect/recordings/source_bytes.h"

namespace ringside::recordings {
namespace {

using hang::Op;
using nlohmann::json;

constexpr double kLongestUs = 86400e6;      ///< of an event
constexpr std::size_t kMostKept = 1 << 24;  ///< bytes of a list or of distributedInfo

/// The arguments of an event that are read.
/// source  PyTorch torch/csrc/distributed/c10d/ParamCommsUtils.hpp and libkineto's output_json.cpp
constexpr auto kArgs = std::to_array<std::string_view>(
    {"Collective name", "In msg nelems", "Out msg nelems", "dtype", "Group size",
     "Process Group Name", "Process Group Description", "Process Group Ranks", "Rank", "Src Rank",
     "Dst Rank", "Seq", "External id", "Input Dims", "Input type"});
enum Arg : std::uint8_t {
  Name,
  InCount,
  OutCount,
  Type,
  GroupSize,
  GroupName,
  GroupDescription,
  GroupRanks,
  RankInGroup,
  From,
  To,
  Sequence,
  ExternalId,
  Dims,
  Types
};

/// What shows when a call ran, in ascending order of preference.
enum class Source : std::uint8_t { HostCall, Backend, Annotation, Kernel };

struct Event {
  Call call;
  Source source = Source::HostCall;
  std::int64_t external_id = -1;
};

double number_of(const std::string& text, double otherwise) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end != text.data() && std::isfinite(value) ? value : otherwise;
}

std::int64_t count_of(const std::string& text) {
  constexpr double kMostCount = 1e15;
  return static_cast<std::int64_t>(std::clamp(number_of(text, -1), -1.0, kMostCount));
}

/// `[[4096], []]` and `["float", ""]`: elements of the first list, and its type.
void take_shape(const std::string& dims, const std::string& types, Call& call) {
  const json sizes = json::parse(dims, nullptr, false);
  if (!sizes.is_array() || sizes.empty()) return;
  // Lists of tensors are nested once more.
  const json* first = &sizes.front();
  while (first->is_array() && !first->empty() && first->front().is_array()) first = &first->front();
  double count = 1;
  for (const json& size : *first) {
    if (!size.is_number_unsigned()) return;
    count *= size.get<double>();
  }
  if (count < 1 || count > 1e15) return;
  call.in_count = static_cast<std::uint64_t>(count);
  const json names = json::parse(types, nullptr, false);
  const json* name = &names;
  while (name->is_array() && !name->empty()) name = &name->front();
  if (name->is_string()) call.type = type_of(name->get<std::string>());
}

/// Takes a trace as the parser goes over it, and keeps the calls and the times of kernels: a whole trace is a hundred
/// times as large.
class Trace : public json::json_sax_t {
 public:
  bool null() override { return scalar("null", false); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false", false); }
  bool number_integer(number_integer_t value) override {
    return scalar(std::to_string(value), false);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(std::to_string(value), false);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return scalar(std::isfinite(value) ? text : "0", false);
  }
  bool string(string_t& value) override { return scalar(value, true); }
  bool binary(binary_t& /*value*/) override { return true; }

  bool start_object(std::size_t /*size*/) override { return open(true); }
  bool start_array(std::size_t /*size*/) override { return open(false); }
  bool end_object() override { return close('}'); }
  bool end_array() override { return close(']'); }
  bool key(string_t& name) override {
    if (role() == Role::Kept) {
      keep_comma();
      keep(json(name).dump() + ":");
    } else if (role() == Role::Args) {
      const auto found = std::ranges::find(kArgs, name);
      arg_ = static_cast<std::size_t>(found - kArgs.begin());
    } else {
      key_ = name;
    }
    return true;
  }
  bool parse_error(std::size_t at, const std::string& /*token*/,
                   const json::exception& /*error*/) override {
    broken_at_ = at;
    return false;
  }

  /// errors  Corrupt, NotFound: as parse_kineto()
  Result<Recording> finish() {
    if (broken_at_ && events_.empty())
      return Error{ErrorCode::Corrupt, "no JSON, or damaged from its begin on",
                   "give a trace that is whole"};
    if (events_.empty())
      return Error{ErrorCode::NotFound, "no collectives",
                   "give traces of ranks that communicate while the profiler records"};
    made_.format = Format::Kineto;
    made_.is_cut = broken_at_.has_value();
    if (made_.is_cut)
      made_.notes.push_back(fmt::format("the trace ends within an event, at byte {}", *broken_at_));
    take_info();
    take_devices();
    name_groups();
    select();
    shift();
    return std::move(made_);
  }

 private:
  enum class Role : std::uint8_t { None, Root, Events, Event, Args, Kept, Ignored };
  [[nodiscard]] Role role() const { return roles_.empty() ? Role::None : roles_.back(); }

  void keep(std::string_view text) {
    if (kept_.size() + text.size() < kMostKept) kept_ += text;
  }
  void keep_comma() {
    if (!kept_.empty() && kept_.back() != '[' && kept_.back() != '{' && kept_.back() != ':')
      keep(",");
  }

  bool scalar(const std::string& text, bool is_text) {
    switch (role()) {
      case Role::Kept:
        keep_comma();
        keep(is_text ? json(text).dump(-1, ' ', false, json::error_handler_t::replace) : text);
        break;
      case Role::Args:
        if (arg_ < kArgs.size()) set(arg_, text);
        break;
      case Role::Event:
        if (key_ == "name") name_ = text;
        if (key_ == "cat") category_ = text;
        if (key_ == "ph") is_span_ = text == "X";
        if (key_ == "ts") begin_ = number_of(text, -1);
        if (key_ == "dur") length_ = number_of(text, -1);
        break;
      case Role::Root:
        if (key_ == "baseTimeNanoseconds") base_ns_ = whole_or(text, 0);
        break;
      default:
        break;
    }
    return true;
  }

  void set(std::size_t arg, const std::string& text) {
    args_[arg] = text;
    has_args_ = true;
  }

  bool open(bool is_object) {
    Role next = Role::Ignored;
    switch (role()) {
      case Role::None:
        next = is_object ? Role::Root : Role::Events;
        break;
      case Role::Root:
        if (key_ == "traceEvents" && !is_object) next = Role::Events;
        if (key_ == "distributedInfo" && is_object) next = Role::Kept;
        if (key_ == "deviceProperties" && !is_object) next = Role::Kept;
        break;
      case Role::Events:
        if (is_object) next = Role::Event;
        break;
      case Role::Event:
        if (key_ == "args" && is_object) next = Role::Args;
        break;
      case Role::Args:
        if (!is_object && arg_ < kArgs.size()) next = Role::Kept;
        break;
      case Role::Kept:
        next = Role::Kept;
        break;
      case Role::Ignored:
        break;
    }
    if (next == Role::Event) clear();
    if (next == Role::Kept) {
      if (role() == Role::Kept) {
        keep_comma();
      } else {
        kept_.clear();
      }
      keep(is_object ? "{" : "[");
    }
    roles_.push_back(next);
    return true;
  }

  bool close(char end) {
    const Role ended = role();
    roles_.pop_back();
    if (ended == Role::Kept) {
      keep(std::string_view(&end, 1));
      if (role() == Role::Args) set(arg_, kept_);
      if (role() == Role::Root) (key_ == "distributedInfo" ? info_ : devices_) = kept_;
    } else if (ended == Role::Event) {
      take_event();
    }
    return true;
  }

  void clear() {
    name_.clear();
    category_.clear();
    is_span_ = false;
    begin_ = -1;
    length_ = 0;
    if (!has_args_) return;
    for (std::string& arg : args_) arg.clear();
    has_args_ = false;
  }

  static std::int64_t in_ns(double us) { return std::llround(us * 1e3); }

  void take_event() {
    const bool is_end = name_ == "Record Window End";  // PyTorch 2 and later write it
    if (begin_ >= 0 && begin_ <= kLatestUs && (is_span_ || is_end)) {
      const double end = is_span_ ? begin_ + std::clamp(length_, 0.0, kLongestUs) : begin_;
      made_.window_end_ns = std::max(made_.window_end_ns, in_ns(end));
    }
    if (!is_span_ || begin_ < 0 || begin_ > kLatestUs || length_ < 0 || length_ > kLongestUs)
      return;
    if (events_.size() + issues_.size() + made_.compute.size() >= kMostCalls) return;
    const bool is_kernel = category_ == "kernel";
    const auto kernel = is_kernel ? parse_kernel(name_) : std::nullopt;
    if (kernel || !args_[Arg::Name].empty()) {
      add_call(kernel, is_kernel                            ? Source::Kernel
                       : category_ == "gpu_user_annotation" ? Source::Annotation
                                                            : Source::HostCall);
    } else if ((is_kernel && !name_.starts_with("nccl")) || category_ == "gpu_memcpy" ||
               category_ == "gpu_memset") {
      made_.compute.push_back({in_ns(begin_), in_ns(begin_ + length_)});
    } else if (category_ != "gpu_user_annotation") {
      take_host_event();
    }
  }

  void add_call(const std::optional<KernelName>& kernel, Source source) {
    Event event{.call = {}, .source = source, .external_id = count_of(args_[Arg::ExternalId])};
    Call& call = event.call;
    call.name = args_[Arg::Name].empty() ? kernel->op : args_[Arg::Name];
    call.op = hang::op_of(call.name);
    // The host's list has `wait` and `init` too, which are no calls.
    if (source == Source::HostCall && call.op == Op::Other) return;
    if (kernel && kernel->op == "SendRecv" && call.op == Op::Other) call.op = Op::Coalesced;
    if (kernel) {
      call.algorithm = kernel->algorithm;
      call.protocol = kernel->protocol;
      call.type = kernel->type;
    }
    if (!args_[Arg::Type].empty()) call.type = type_of(args_[Arg::Type]);
    call.in_count =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, count_of(args_[Arg::InCount])));
    call.out_count =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, count_of(args_[Arg::OutCount])));
    call.bytes = bytes_of(call);
    call.sequence = args_[Arg::Sequence].empty() ? -1 : count_of(args_[Arg::Sequence]);
    if (call.sequence > 0xFFFFFFFF) call.sequence = -1;
    call.peer = rank_or_none(count_of(args_[call.op == Op::Send ? Arg::To : Arg::From]));
    call.group = group_of_args();
    call.begin_ns = in_ns(begin_);
    call.end_ns = in_ns(begin_ + length_);
    events_.push_back(std::move(event));
  }

  /// `c10d::allreduce_`, which issues a call, and `gloo:all_reduce`, which runs it. Neither names its group.
  void take_host_event() {
    const std::size_t colon = name_.find(':');
    if (colon == std::string::npos || colon + 1 >= name_.size() || colon > 16) return;
    const bool is_issue = name_.starts_with("c10d::");
    const std::string_view rest = std::string_view(name_).substr(colon + (is_issue ? 2 : 1));
    if (rest.front() == ':' || rest.find(' ') != std::string_view::npos) return;
    Event event{.call = {}, .source = Source::Backend, .external_id = -1};
    Call& call = event.call;
    call.name = rest;
    call.op = hang::op_of(rest);
    if (call.op == Op::Other) return;
    call.group = made_.group_of("", {}, 0);
    call.begin_ns = in_ns(begin_);
    call.end_ns = in_ns(begin_ + length_);
    if (is_issue) {
      issues_.push_back(std::move(event));
      return;
    }
    if (!args_[Arg::Dims].empty()) take_shape(args_[Arg::Dims], args_[Arg::Types], call);
    call.bytes = bytes_of(call);
    backend_ = name_.substr(0, colon);
    events_.push_back(std::move(event));
  }

  int group_of_args() {
    const std::string& name = args_[Arg::GroupName];
    const std::string key = name + '\n' + args_[Arg::GroupRanks] + '\n' + args_[Arg::GroupSize];
    const auto [known, is_new] = group_of_key_.try_emplace(key, -1);
    if (is_new) {
      const auto members = parse_ranks(args_[Arg::GroupRanks]).value_or(std::vector<int>{});
      const std::int64_t size = count_of(args_[Arg::GroupSize]);
      known->second = made_.group_of(
          name, members, size > 0 && size <= hang::kMostRanks ? static_cast<int>(size) : 0);
      Group& group = made_.groups[static_cast<std::size_t>(known->second)];
      if (group.description.empty()) group.description = args_[Arg::GroupDescription];
    }
    Group& group = made_.groups[static_cast<std::size_t>(known->second)];
    const int own = rank_or_none(count_of(args_[Arg::RankInGroup]));
    if (own >= 0 && group.size > widest_) {
      widest_ = group.size;
      rank_in_widest_ = own < static_cast<int>(group.members.size())
                            ? group.members[static_cast<std::size_t>(own)]
                            : own;
    }
    return known->second;
  }

  void take_devices() {
    const json devices = json::parse(devices_, nullptr, false);
    if (!devices.is_array() || devices.empty() || !devices.front().is_object()) return;
    const auto name = devices.front().find("name");
    if (name != devices.front().end() && name->is_string())
      made_.gpu = name->get<std::string>().substr(0, 256);
  }

  void take_info() {
    const json info = json::parse(info_, nullptr, false);
    if (!info.is_object()) return;
    const auto number = [&](const char* name) {
      const auto found = info.find(name);
      return found != info.end() && found->is_number_unsigned()
                 ? rank_or_none(static_cast<std::int64_t>(
                       std::min<std::uint64_t>(found->get<std::uint64_t>(), 1U << 30U)))
                 : -1;
    };
    made_.rank = number("rank");
    made_.world = std::max(0, number("world_size"));
    const auto configs = info.find("pg_config");
    if (configs == info.end() || !configs->is_array()) return;
    for (const json& config : *configs) {
      if (!config.is_object()) continue;
      const auto text = [&](const char* name) {
        const auto found = config.find(name);
        if (found == config.end()) return std::string{};
        if (found->is_string()) return found->get<std::string>();
        // A list of lists holds no ranks, and dump() calls itself for each level: a hostile file could exhaust the stack.
        const bool is_nested = std::any_of(found->begin(), found->end(),
                                           [](const json& one) { return one.is_structured(); });
        return is_nested ? std::string{} : found->dump();
      };
      auto members = parse_ranks(text("ranks"));
      if (members)
        known_groups_[text("pg_name")] = {text("pg_name"), text("pg_desc"),
                                          static_cast<int>(members->size()), *std::move(members)};
    }
  }

  /// Members of groups that the events do not state: PyTorch abbreviates long lists.
  void name_groups() {
    if (made_.rank < 0) made_.rank = rank_in_widest_;
    for (Group& group : made_.groups) {
      auto known = known_groups_.find(group.name);
      if (group.name.empty() && known_groups_.size() == 1) known = known_groups_.begin();
      if (known == known_groups_.end()) continue;
      if (group.name.empty()) group.name = known->second.name;
      if (group.description.empty()) group.description = known->second.description;
      if (!group.members.empty()) continue;
      group.members = known->second.members;
      group.size = known->second.size;
    }
    for (const Group& group : made_.groups) {
      made_.world = std::max(made_.world, group.size);
      for (const int member : group.members) made_.world = std::max(made_.world, member + 1);
    }
  }

  static bool is_before(const Event& a, const Event& b) {
    return a.call.begin_ns < b.call.begin_ns;
  }

  /// Keeps the calls by the best source of times that the trace has, and of the host's list those that have not ended.
  void select() {
    Source best = Source::HostCall;
    for (const Event& event : events_) best = std::max(best, event.source);
    std::vector<Event> host;
    for (Event& event : events_) {
      if (event.source == best) {
        made_.calls.push_back(event.call);
        if (event.external_id >= 0) ended_ids_.insert(event.external_id);
      } else if (event.source == Source::HostCall) {
        host.push_back(std::move(event));
      }
    }
    std::ranges::stable_sort(made_.calls, {}, &Call::begin_ns);
    if (best == Source::Backend) {
      made_.backend = backend_;
      join_issues();
    } else if (best == Source::HostCall) {
      made_.has_device_times = false;
      made_.notes.emplace_back("when calls ran on the GPU: when the host made them");
      for (Call& call : made_.calls) call.issued_ns = call.begin_ns;
    } else {
      join_host_calls(std::move(host));
    }
    if (best != Source::HostCall || made_.compute.empty()) return;
    made_.compute.clear();
  }

  /// The n-th event that runs an operation belongs to the n-th one that issues it.
  void join_issues() {
    std::ranges::stable_sort(issues_, is_before);
    std::map<Op, std::vector<Call*>> ran;
    for (Call& call : made_.calls) ran[call.op].push_back(&call);
    std::map<Op, std::size_t> issued;
    std::vector<Call> pending;
    for (Event& issue : issues_) {
      const std::size_t place = issued[issue.call.op]++;
      const std::vector<Call*>& own = ran[issue.call.op];
      if (place < own.size()) {
        own[place]->issued_ns = std::min(issue.call.begin_ns, own[place]->begin_ns);
      } else {
        pending.push_back(issue.call);
        pending.back().issued_ns = issue.call.begin_ns;
        pending.back().begin_ns = issue.call.begin_ns;
        pending.back().end_ns = -1;
      }
    }
    made_.is_completed_only = issues_.empty();
    made_.calls.insert(made_.calls.end(), pending.begin(), pending.end());
    std::ranges::stable_sort(made_.calls, {}, [](const Call& call) {
      return call.issued_ns >= 0 ? call.issued_ns : call.begin_ns;
    });
  }

  /// A kernel that runs when the profiler stops leaves no event. A call is pending if it and all later ones of its
  /// group have no kernel.
  void join_host_calls(std::vector<Event> host) {
    if (ended_ids_.empty()) return;
    std::ranges::stable_sort(host, is_before);
    std::set<std::pair<int, std::int64_t>> ended;
    for (const Call& call : made_.calls) ended.insert({call.group, call.sequence});
    std::set<int> done;
    std::vector<Call> pending;
    for (auto event = host.rbegin(); event != host.rend(); ++event) {
      Call& call = event->call;
      if (call.is_transfer() || event->external_id < 0 || done.contains(call.group)) continue;
      if (ended_ids_.contains(event->external_id) ||
          (call.sequence >= 0 && ended.contains({call.group, call.sequence}))) {
        done.insert(call.group);
        continue;
      }
      call.issued_ns = call.begin_ns;
      call.begin_ns = call.end_ns = -1;
      pending.push_back(call);
    }
    made_.is_completed_only = host.empty();
    made_.calls.insert(made_.calls.end(), pending.rbegin(), pending.rend());
  }

  /// Times are relative to `baseTimeNanoseconds`, which may follow the events.
  void shift() {
    if (base_ns_ <= 0 || base_ns_ > 3'000'000'000'000'000'000) return;
    constexpr std::int64_t kAbsolute =
        1'000'000'000'000'000'000;  // the year 2001: no base is missing
    for (Call& call : made_.calls) {
      for (std::int64_t* const time : {&call.issued_ns, &call.begin_ns, &call.end_ns})
        if (*time >= 0 && *time < kAbsolute) *time += base_ns_;
    }
    if (made_.window_end_ns >= 0 && made_.window_end_ns < kAbsolute)
      made_.window_end_ns += base_ns_;
    for (Span& span : made_.compute) {
      if (span.begin_ns >= kAbsolute) continue;
      span.begin_ns += base_ns_;
      span.end_ns += base_ns_;
    }
  }

  Recording made_;
  std::vector<Event> events_;
  std::vector<Event> issues_;
  std::vector<Role> roles_;
  std::string key_, kept_, info_, devices_, name_, category_, backend_;
  std::array<std::string, kArgs.size()> args_;
  std::size_t arg_ = kArgs.size();
  bool has_args_ = false;
  bool is_span_ = false;
  double begin_ = -1, length_ = 0;
  std::int64_t base_ns_ = 0;
  std::optional<std::size_t> broken_at_;
  std::map<std::string, int> group_of_key_;
  std::map<std::string, Group> known_groups_;
  int widest_ = 0, rank_in_widest_ = -1;
  std::set<std::int64_t> ended_ids_;
};

}  // namespace

std::optional<std::vector<int>> parse_ranks(std::string_view text) {
  const json list = json::parse(text, nullptr, false);
  if (!list.is_array() || list.empty() || list.size() > static_cast<std::size_t>(hang::kMostRanks))
    return std::nullopt;
  std::vector<int> ranks;
  for (const json& one : list) {
    if (!one.is_number_unsigned() ||
        one.get<std::uint64_t>() >= static_cast<std::uint64_t>(hang::kMostRanks))
      return std::nullopt;
    ranks.push_back(one.get<int>());
  }
  return ranks;
}

Result<Recording> parse_kineto(std::string_view text) {
  Trace trace;
  json::sax_parse(text.begin(), text.end(), &trace);
  return trace.finish();
}

Result<Recording> read_kineto(logs::ByteSource& source) {
  SourceBytes::Buffer buffer{.source = &source};
  Trace trace;
  json::sax_parse(SourceBytes(&buffer), SourceBytes(), &trace);
  auto made = trace.finish();
  if (!made && buffer.error) return *buffer.error;
  if (made && buffer.error) made->notes.push_back(buffer.error->message);
  return made;
}

}  // namespace ringside::recordings
