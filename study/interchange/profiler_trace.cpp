#include "study/interchange/profiler_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "diag/hangdetect/readers/op_name.h"

namespace ringside::study {
namespace {

using hangs::Op;
using hangs::OutlineStep;
using nlohmann::json;
using OutlineKind = OutlineStep::Kind;

constexpr int kMostProfiled = 65536;
constexpr std::size_t kMostEvents = 20'000'000;
constexpr double kMostMicros = 86400e6;  ///< of a trace
/// Kernels that overlap a call's ends by at most this do not count as concurrent.
constexpr double kTouchUs = 5;

double number_of(const json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return otherwise;
  const double value = found->get<double>();
  return std::isfinite(value) ? value : otherwise;
}

int whole_of(const json& object, const char* key) {
  const double value = number_of(object, key, -1);
  return value >= 0 && value < kMostProfiled ? static_cast<int>(value) : -1;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? found->dump() : std::string{};
}

/// `[0, 1, 2]`, as text or as a list; nothing if it is truncated.
std::optional<std::vector<int>> ranks_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  json list = *found;
  if (list.is_string()) list = json::parse(list.get<std::string>(), nullptr, false);
  if (!list.is_array() || list.empty() || list.size() > kMostProfiled) return std::nullopt;
  std::vector<int> ranks;
  for (const json& one : list) {
    if (!one.is_number_unsigned() || one.get<std::uint64_t>() >= kMostProfiled) return std::nullopt;
    ranks.push_back(one.get<int>());
  }
  return ranks;
}

using Span = std::pair<double, double>;  ///< us

std::vector<Span> united(std::vector<Span> spans) {
  std::ranges::sort(spans);
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (!all.empty() && span.first <= all.back().second) {
      all.back().second = std::max(all.back().second, span.second);
    } else {
      all.push_back(span);
    }
  }
  return all;
}

/// The time of disjoint, sorted spans within one span.
double within(const std::vector<Span>& spans, double from, double to) {
  double sum = 0;
  auto span = std::ranges::upper_bound(spans, from, {}, &Span::second);
  for (; span != spans.end() && span->first < to; ++span) {
    sum += std::min(to, span->second) - std::max(from, span->first);
  }
  return sum;
}

/// The parts of `spans` that no other covers.
std::vector<Span> without(const std::vector<Span>& spans, const std::vector<Span>& others) {
  std::vector<Span> left;
  for (const auto& [begin, end] : spans) {
    double at = begin;
    auto other = std::ranges::upper_bound(others, begin, {}, &Span::second);
    for (; other != others.end() && other->first < end; ++other) {
      if (other->first > at) left.emplace_back(at, other->first);
      at = std::max(at, other->second);
    }
    if (at < end) left.emplace_back(at, end);
  }
  return left;
}

struct Event {
  double begin = 0, end = 0;
  int source = 0;  ///< source of its times: 2 a kernel, 1 the annotation on the GPU, 0 the host
  json args;
};

struct Trace {
  int rank = -1, world = -1;
  std::map<std::string, std::pair<std::string, std::vector<int>>> groups;  ///< description, ranks
  std::vector<Event> calls;
  std::vector<Span> kernels;
};

/// Keeps only the needed parts of a trace while it is parsed: whole traces are a hundred times as large.
class TraceReader {
 public:
  Result<Trace> read(const GivenFile& file) {
    const auto take = [this](int, json::parse_event_t event, json& value) {
      if (event != json::parse_event_t::object_end || !value.is_object()) return true;
      if (!value.contains("ph")) return true;
      if (trace_.calls.size() + trace_.kernels.size() < kMostEvents) take_event(value);
      return false;
    };
    const json root = json::parse(file.bytes, take, false);
    if (root.is_discarded()) {
      return Error{ErrorCode::Corrupt, file.name + ": no JSON", "give a trace that is whole"};
    }
    if (root.is_object()) {
      if (const auto info = root.find("distributedInfo"); info != root.end() && info->is_object())
        take_info(*info);
    }
    return std::move(trace_);
  }

 private:
  void take_event(json& event) {
    if (text_of(event, "ph") != "X") return;
    const std::string category = text_of(event, "cat");
    const double begin = number_of(event, "ts", -1);
    const double length = number_of(event, "dur", 0);
    if (begin < 0 || length < 0 || length > kMostMicros) return;
    const bool is_kernel = category == "kernel";
    const auto args = event.find("args");
    const bool is_call =
        args != event.end() && args->is_object() && args->contains("Collective name");
    if (is_call) {
      const int source = is_kernel ? 2 : category == "gpu_user_annotation" ? 1 : 0;
      trace_.calls.push_back({begin, begin + length, source, std::move(*args)});
    } else if ((is_kernel && !text_of(event, "name").starts_with("nccl")) ||
               category == "gpu_memcpy" || category == "gpu_memset") {
      trace_.kernels.emplace_back(begin, begin + length);
    }
  }

  void take_info(const json& info) {
    trace_.rank = whole_of(info, "rank");
    trace_.world = whole_of(info, "world_size");
    const auto groups = info.find("pg_config");
    if (groups == info.end() || !groups->is_array()) return;
    for (const json& group : *groups) {
      if (!group.is_object()) continue;
      if (auto ranks = ranks_of(group, "ranks")) {
        trace_.groups[text_of(group, "pg_name")] = {text_of(group, "pg_desc"), *std::move(ranks)};
      }
    }
  }

  Trace trace_;
};

/// Converts one rank's trace to its calls.
class TraceImport {
 public:
  TraceImport(Trace trace, RecordedJob& job) : trace_(std::move(trace)), job_(job) {
    // Use the best source that the trace has, for all calls.
    int best = 0;
    for (const Event& call : trace_.calls) best = std::max(best, call.source);
    std::erase_if(trace_.calls, [&](const Event& call) { return call.source != best; });
    std::ranges::stable_sort(trace_.calls, {}, &Event::begin);
    trace_.kernels = united(std::move(trace_.kernels));
    if (best == 0) {
      job.note("when calls ran on the GPU: when the host made them");
      trace_.kernels.clear();
    }
    std::vector<Span> calls;
    for (const Event& call : trace_.calls) calls.emplace_back(call.begin, call.end);
    exposed_ = without(united(std::move(calls)), trace_.kernels);
  }

  void write(RecordedRank& own) {
    own.is_silent = false;
    std::map<int, std::int64_t> numbers;
    double from = trace_.calls.empty() ? 0 : trace_.calls.front().begin;
    if (!trace_.kernels.empty()) from = std::min(from, trace_.kernels.front().first);
    for (const Event& event : trace_.calls) {
      auto call = call_of(event);
      if (!call) continue;
      call->before = busy(from, event.begin);
      from = event.begin;
      if (call->step.kind != OutlineKind::Transfer) call->number = numbers[call->group]++;
      const double overlap = within(trace_.kernels, event.begin, event.end);
      call->step.async = overlap > kTouchUs;
      if (call->step.async) open_.insert(event.end);
      own.calls.push_back(*std::move(call));
    }
    double end = from;
    for (const Event& event : trace_.calls) end = std::max(end, event.end);
    if (!trace_.kernels.empty()) end = std::max(end, trace_.kernels.back().second);
    own.after = busy(from, end);
  }

 private:
  /// The GPU's work other than calls, and where it waits for concurrent calls.
  std::vector<OutlineStep> busy(double from, double to) {
    std::vector<OutlineStep> steps;
    while (!open_.empty() && *open_.begin() <= to) {
      const double end = *open_.begin();
      open_.erase(open_.begin());
      // Nothing ran concurrently with its end, so the next work had waited for it.
      if (within(exposed_, std::max(from, end - 2 * kTouchUs), end) < kTouchUs) continue;
      add_kernel(steps, from, end);
      OutlineStep join;
      join.kind = OutlineKind::Join;
      steps.push_back(join);
      from = std::max(from, end);
    }
    add_kernel(steps, from, to);
    return steps;
  }

  void add_kernel(std::vector<OutlineStep>& steps, double from, double to) const {
    const double micros = to - from - within(exposed_, from, to);
    if (!(micros > 0.05)) return;
    OutlineStep kernel;
    kernel.kind = OutlineKind::Kernel;
    kernel.time = Nanoseconds{std::llround(std::min(micros, kMostMicros) * 1e3)};
    steps.push_back(kernel);
  }

  std::optional<RecordedCall> call_of(const Event& event) {
    const std::string name = text_of(event.args, "Collective name");
    const auto op = program_op(hang::op_of(name));
    if (!op) {
      job_.note(fmt::format("'{}' is omitted: programs cannot express it", name.substr(0, 40)));
      return std::nullopt;
    }
    const int group = group_of(event.args);
    if (group < 0) {
      job_.note("calls of groups whose ranks the traces do not show are omitted");
      return std::nullopt;
    }
    RecordedCall call{.step = {}, .group = group};
    OutlineStep& step = call.step;
    step.op = *op;
    const double count =
        number_of(event.args, *op == Op::ReduceScatter ? "Out msg nelems" : "In msg nelems", 1);
    constexpr double kMostCount = 1099511627776;  // 2^40
    step.count =
        *op == Op::Barrier ? 1 : static_cast<std::int64_t>(std::clamp(count, 1.0, kMostCount));
    const std::string type = text_of(event.args, "dtype");
    if (const auto known = program_type(type)) {
      step.type = *known;
    } else if (*op != Op::Barrier) {
      job_.note(fmt::format("element type '{}': float in its place", type.substr(0, 40)));
    }
    if (hangs::has_root(*op)) job_.note("roots are not in traces: the first rank of each group");
    if (!hangs::is_p2p(*op)) return call;
    return transfer(event, *op, std::move(call));
  }

  std::optional<RecordedCall> transfer(const Event& event, Op op, RecordedCall call) {
    const RecordedGroup& members = job_.groups[static_cast<std::size_t>(call.group)];
    const int self = members.index_of(trace_.rank);
    const int source = op == Op::Send ? self : whole_of(event.args, "Src Rank");
    const int target = op == Op::Send ? whole_of(event.args, "Dst Rank") : self;
    const auto is_member = [&](int rank) {
      return rank >= 0 && rank < static_cast<int>(members.members.size());
    };
    if (!is_member(source) || !is_member(target) || source == target) {
      job_.note("transfers without their peers are omitted");
      return std::nullopt;
    }
    call.step.kind = OutlineKind::Transfer;
    call.step.op = Op::AllReduce;  // the kind gives the meaning
    call.step.from = source;
    call.step.to = target;
    return call;
  }

  int group_of(const json& args) {
    const std::string name = text_of(args, "Process Group Name");
    std::string description = text_of(args, "Process Group Description");
    auto ranks = ranks_of(args, "Process Group Ranks");
    const auto known = trace_.groups.find(name);
    if (!ranks && known != trace_.groups.end()) ranks = known->second.second;
    if (description.empty() && known != trace_.groups.end()) description = known->second.first;
    const auto world = static_cast<int>(job_.ranks.size());
    if (!ranks && whole_of(args, "Group size") == world) {
      ranks.emplace();
      for (int rank = 0; rank < world; ++rank) ranks->push_back(rank);
    }
    const bool is_ours = ranks && std::ranges::count(*ranks, trace_.rank) > 0 &&
                         *std::ranges::max_element(*ranks) < world;
    return is_ours ? job_.group_of(name, description, *std::move(ranks)) : -1;
  }

  Trace trace_;
  RecordedJob& job_;
  std::vector<Span> exposed_;   ///< calls run, and nothing else
  std::multiset<double> open_;  ///< ends of asynchronous calls without a recorded wait
};

/// One more than the largest rank in the trace.
int world_of(const Trace& trace) {
  int world = std::max(trace.world, trace.rank + 1);
  for (const Event& call : trace.calls) {
    world = std::max(world, whole_of(call.args, "Group size"));
    if (const auto ranks = ranks_of(call.args, "Process Group Ranks")) {
      world = std::max(world, *std::ranges::max_element(*ranks) + 1);
    }
  }
  return world;
}

}  // namespace

bool is_profiler_trace(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (bytes[first] != '{' && bytes[first] != '[')) return false;
  return bytes.find("\"ph\"") != std::string_view::npos;
}

Result<RecordedJob> import_profiler_traces(const std::vector<GivenFile>& files) {
  std::map<int, Trace> traces;
  int world = 0;
  RecordedJob job;
  for (const GivenFile& file : files) {
    RINGSIDE_TRY(Trace trace, TraceReader().read(file));
    if (trace.rank < 0) {
      trace.rank = static_cast<int>(traces.size());
      job.note("which rank a trace is of: the order of the files");
    }
    world = std::max(world, world_of(trace));
    const int rank = trace.rank;
    if (trace.calls.empty()) {
      return Error{ErrorCode::Corrupt, fmt::format("{}: no collectives", file.name),
                   "give traces of PyTorch 2.3 or later of ranks that communicate"};
    }
    if (!traces.try_emplace(rank, std::move(trace)).second) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("{}: a second trace of rank {}", file.name, rank),
                   "give one trace a rank, of one window"};
    }
  }
  job.ranks.resize(static_cast<std::size_t>(world));
  for (auto& [rank, trace] : traces) {
    TraceImport(std::move(trace), job).write(job.ranks[static_cast<std::size_t>(rank)]);
  }
  if (static_cast<int>(traces.size()) < world) {
    job.note(fmt::format("{} of {} ranks left no trace: they go along with the others",
                         world - static_cast<int>(traces.size()), world));
  }
  return job;
}

}  // namespace ringside::study
