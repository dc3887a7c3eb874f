#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/wording.h"
#include "cli/progress.h"
#include "cli/trace/subcommands.h"
#include "cli/trace/trace_calls.h"
#include "ringside/trace_reader.h"
#include "study/expected_busbw.h"
#include "study/interchange/recorded_trace.h"
#include "trace/statistics.h"

namespace ringside::cli {
namespace {

/// Rows of the channel table without --all: what a screen holds.
constexpr std::size_t kChannelRows = 32;
/// Processes and hosts that one line lists.
constexpr std::size_t kListed = 8;

/// A trace to be described: a file, or what others recorded as one.
struct OpenedTrace {
  study::RecordedTrace recorded;  ///< empty for an .rtrace file
  TraceFile file;
  std::string name;

  [[nodiscard]] bool is_recorded() const { return !recorded.bytes.empty(); }
};

Result<OpenedTrace> open_trace(const std::vector<std::string>& paths) {
  std::string name = paths.front();
  if (paths.size() > 1) name += fmt::format(" and {} more", paths.size() - 1);
  std::error_code failed;
  const bool is_one_file = paths.size() == 1 && !std::filesystem::is_directory(name, failed);
  if (is_one_file && !study::are_recordings(paths)) {
    RINGSIDE_TRY(TraceFile file, TraceFile::open(name));
    return OpenedTrace{{}, std::move(file), std::move(name)};
  }
  RINGSIDE_TRY(study::RecordedTrace recorded, study::trace_of_recordings(paths));
  RINGSIDE_TRY(TraceFile file, TraceFile::parse(recorded.bytes, name));
  return OpenedTrace{std::move(recorded), std::move(file), std::move(name)};
}

void line(const std::string& label, const std::string& text) {
  fmt::print("  {:<11}{}\n", printable(label), printable(text));
}

/// The calls of a trace, with the busbw that they should have.
struct TracedCalls {
  std::vector<CallSummary> calls;
  std::string on;  ///< the hosts of the prediction; empty: there is none
  study::ExpectedBusbw expected = {};
};

/// Returns the calls, and their predictions on the hosts of --on, else on those that the trace states.
/// errors  as study::expect_busbw(), of --on alone: hosts that a trace states wrongly are a note
Result<TracedCalls> traced_calls(const TraceFile& file, const JobOptions& asked) {
  TracedCalls traced{calls_of(file), {}};
  const auto stated = asked.on.empty() ? study::hosts_of_trace(file) : std::nullopt;
  if (asked.on.empty() && !stated) {
    if (!asked.set.empty() || asked.nodes || asked.gpus || asked.nvl_domain ||
        !asked.fabric.empty()) {
      return Error{ErrorCode::InvalidArgument, "settings of hosts that are not known",
                   "name the hosts: --on dgx-h100"};
    }
    return traced;
  }
  JobOptions job = asked;
  if (stated) job.on = stated->job.on;
  Progress progress("simulate");
  auto expected =
      study::expect_busbw(job, file, traced.calls, [&](double share) { progress.show(share); });
  progress.erase();
  if (expected) {
    traced.on = stated ? stated->source : job.on;
    traced.expected = *std::move(expected);
  } else if (stated) {
    traced.expected.notes.push_back("no expectation: " + expected.error().message);
  } else {
    return std::move(expected).error();
  }
  return traced;
}

/// Returns when the trace began by the host's clock; empty: the file's numbers give no time after 1970.
std::string wall_time(const TraceInfo& info, std::int64_t begin_ns) {
  std::int64_t ns = 0;
  if (__builtin_add_overflow(info.realtime_offset.count(), begin_ns, &ns) || ns <= 0) return {};
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC by the host's clock",
                     fmt::gmtime(std::time_t{ns / 1'000'000'000}));
}

void print_recorders(const OpenedTrace& trace, const TraceStatistics& all) {
  line("recorded", fmt::format("by {}, {} from the first event to the last", trace.recorded.tools,
                               format_time(all.span())));
  // Earlier than 2001 means a time since the start of something, not a date.
  constexpr std::int64_t kDated = 1'000'000'000'000'000'000;
  if (all.begin_ns > kDated) line("began", wall_time(trace.file.processes().front(), all.begin_ns));
  for (const std::string& note : trace.recorded.notes) line("note", note);
}

void print_writers(const OpenedTrace& trace, const TraceStatistics& all) {
  const TraceFile& file = trace.file;
  if (file.processes().empty()) {
    line("written by", "unknown: no process has introduced itself");
    return;
  }
  const TraceInfo& creator = file.processes().front();
  if (trace.is_recorded()) return print_recorders(trace, all);
  line("clock", fmt::format("{}, {} from the first event to the last", to_string(creator.clock),
                            format_time(all.span())));
  const std::string began = wall_time(creator, all.begin_ns);
  if (creator.clock == TraceClock::HostMonotonic && !began.empty()) line("began", began);
  std::vector<std::string> hosts;
  for (const TraceInfo& one : file.processes()) {
    if (std::ranges::find(hosts, one.host) == hosts.end()) hosts.push_back(one.host);
  }
  const std::uint64_t processes = file.counts().processes;
  std::string where = creator.host;
  if (hosts.size() == 1) {
    std::string pids;
    for (std::size_t i = 0; i < std::min(kListed, file.processes().size()); ++i) {
      pids += fmt::format("{}{}", i == 0 ? "" : ", ", file.processes()[i].pid);
    }
    where += fmt::format(" (pid {}{})", pids, processes > kListed ? ", ..." : "");
  } else {
    for (std::size_t i = 1; i < std::min(kListed, hosts.size()); ++i) where += ", " + hosts[i];
    if (hosts.size() > kListed) where += fmt::format(" and {} more", hosts.size() - kListed);
  }
  line("written by", fmt::format("{} on {}, ringside {}", plural(processes, "process", "processes"),
                                 where, creator.version));
  if (!creator.command_line.empty()) line("command", creator.command_line);
  for (const auto& [key, value] : creator.values) {
    if (key != kGroupSizes) line(key, value);
  }
}

void print_losses(const TraceFile& file, const TraceStatistics& all) {
  const TraceCounts& counts = file.counts();
  line("file end", counts.is_torn_at_end
                       ? "torn: a process was killed or the disk was full while it wrote a block"
                       : "whole");
  if (counts.dumps > 0) line("dumps", "of " + plural(counts.dumps, "rank", "ranks"));
  if (counts.skipped_bytes > 0) {
    line("skipped", fmt::format("{} bytes that belong to no whole block", counts.skipped_bytes));
  }
  if (counts.malformed_blocks > 0) {
    line("malformed", plural(counts.malformed_blocks, "block", "blocks"));
  }
  if (counts.unknown_blocks > 0) {
    line("unknown", plural(counts.unknown_blocks, "block", "blocks") + " of a newer ringside");
  }
  if (counts.unreadable_events > 0) {
    line("unreadable", plural(counts.unreadable_events, "event", "events"));
  }
  if (all.unmatched_halves > 0) {
    line("unmatched", plural(all.unmatched_halves, "send or receive", "sends or receives") +
                          " whose other half is not in the file");
  }
}

void print_collectives(const TraceStatistics& all) {
  if (all.collectives.empty()) return;
  fmt::print("\n  {:<15}{:<16}{:<9}{:>7}{:>9}{:>11}{:>12}{:>12}\n", "collective", "algorithm",
             "protocol", "count", "calls", "mean size", "mean time", "longest");
  for (const CollectiveStatistics& one : all.collectives) {
    fmt::print("  {:<15}{:<16}{:<9}{:>7}{:>9}{:>11}{:>12}{:>12}{}\n", to_string(one.collective),
               all.primitives > 0 ? to_string(one.algorithm) : "-",
               all.primitives > 0 ? to_string(one.protocol) : "-", one.count, one.calls,
               short_bytes(one.mean_bytes()), format_time(one.mean_time()),
               format_time(one.longest), one.is_modelled ? "  modelled" : "");
  }
  if (std::ranges::any_of(all.collectives, &CollectiveStatistics::is_modelled)) {
    fmt::print("  modelled: copies replaced a switch or a network that reduces\n");
  }
}

void print_channels(const TraceStatistics& all, bool every_one) {
  if (all.channels.empty()) return;
  std::vector<ChannelStatistics> rows = all.channels;
  const std::size_t hidden =
      every_one || rows.size() <= kChannelRows ? 0 : rows.size() - kChannelRows;
  if (hidden > 0) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.waiting > b.waiting; });
    rows.resize(kChannelRows);
  }
  const bool are_many = all.communicators.size() > 1;
  fmt::print("\n  {}{:>6}{:>9}{:>12}{:>10}{:>12}{:>12}{:>9}\n",
             are_many ? fmt::format("{:>14}", "communicator") : "", "rank", "channel", "primitives",
             "sent", "busy", "waiting", "GB/s");
  for (const ChannelStatistics& row : rows) {
    fmt::print("  {}{:>6}{:>9}{:>12}{:>10}{:>12}{:>12}{:>9.2f}\n",
               are_many ? fmt::format("{:>14}", row.communicator) : "", to_int(row.rank),
               to_int(row.channel), row.primitives, short_bytes(row.sent), format_time(row.busy),
               format_time(row.waiting), in_gbs(row.achieved()));
  }
  if (hidden > 0) {
    fmt::print("  the {} that waited longest; {} more with --all\n", kChannelRows, hidden);
  }
  fmt::print(
      "\n  busy: in at least one primitive; waiting: of that, in receives before the sender had "
      "begun;\n"
      "  GB/s: sent / busy\n");
}

void print_text(const OpenedTrace& trace, const TraceStatistics& all, const TracedCalls& traced,
                const InfoArguments& arguments) {
  const TraceFile& file = trace.file;
  const std::string events = plural(file.counts().events, "event", "events");
  if (trace.is_recorded()) {
    fmt::print("{}: {}\n", printable(trace.name), events);
  } else {
    fmt::print("{}: {} bytes, {} in {}\n", printable(trace.name), file.size_bytes(), events,
               plural(file.counts().blocks, "block", "blocks"));
  }
  print_writers(trace, all);
  line("ranks", fmt::format("{} in {}", all.ranks,
                            plural(all.communicators.size(), "communicator", "communicators")));
  if (!trace.is_recorded())
    line("events", fmt::format("{}, {}, {}", plural(all.primitives, "primitive", "primitives"),
                               plural(all.collective_calls, "collective call", "collective calls"),
                               plural(all.transfers, "transfer", "transfers")));
  if (!trace.is_recorded()) {
    print_losses(file, all);
    print_collectives(all);
  }
  print_sizes(sizes_of(traced.calls));
  if (traced.expected.error_percent > 0) {
    fmt::print("  expected: busbw that ringside sim predicts on {}; typical error {:.0f} %\n",
               printable(traced.on), traced.expected.error_percent);
  }
  for (const std::string& note : traced.expected.notes) fmt::print("  note: {}\n", printable(note));
  print_endless(traced.calls, arguments.all);
  if (arguments.calls) print_calls(traced.calls, arguments.all);
  print_channels(all, arguments.all);
}

Json processes_json(const TraceFile& file) {
  Json processes = Json::array();
  for (const TraceInfo& info : file.processes()) {
    Json values = Json::object();
    for (const auto& [key, value] : info.values) values[key] = value;
    processes.push_back({{"pid", info.pid},
                         {"host", info.host},
                         {"clock", to_string(info.clock)},
                         {"version", info.version},
                         {"command_line", info.command_line},
                         {"realtime_offset_ns", info.realtime_offset.count()},
                         {"values", std::move(values)}});
  }
  return processes;
}

Json document(const OpenedTrace& trace, const TraceStatistics& all, const TracedCalls& traced,
              bool with_calls) {
  const TraceFile& file = trace.file;
  const TraceCounts& counts = file.counts();
  Json communicators = Json::array();
  for (const CommunicatorStatistics& one : all.communicators) {
    communicators.push_back({{"communicator", one.communicator}, {"nranks", one.ranks}});
  }
  Json collectives = Json::array();
  for (const CollectiveStatistics& one : all.collectives) {
    collectives.push_back(
        {{"collective", to_string(one.collective)},
         {"algorithm", all.primitives > 0 ? Json(to_string(one.algorithm)) : Json()},
         {"protocol", all.primitives > 0 ? Json(to_string(one.protocol)) : Json()},
         {"is_modelled", one.is_modelled},
         {"count", one.count},
         {"calls", one.calls},
         {"mean_bytes", one.mean_bytes().value},
         {"mean_us", in_us(one.mean_time())},
         {"max_us", in_us(one.longest)}});
  }
  Json channels = Json::array();
  for (const ChannelStatistics& one : all.channels) {
    channels.push_back({{"communicator", one.communicator},
                        {"rank", to_int(one.rank)},
                        {"channel", to_int(one.channel)},
                        {"primitives", one.primitives},
                        {"sent_bytes", one.sent.value},
                        {"busy_us", in_us(one.busy)},
                        {"waiting_us", in_us(one.waiting)},
                        {"achieved_gbs", in_gbs(one.achieved())}});
  }
  Json made = {{"schema", "ringside.trace/1"},
               {"file", trace.name},
               {"bytes", file.size_bytes()},
               {"events", counts.events},
               {"primitives", all.primitives},
               {"collective_calls", all.collective_calls},
               {"begin_ns", all.begin_ns},
               {"end_ns", all.end_ns},
               {"span_us", in_us(all.span())},
               {"nranks", all.ranks},
               {"transfers", all.transfers},
               {"unmatched_halves", all.unmatched_halves},
               {"dumps", counts.dumps},
               {"blocks", counts.blocks},
               {"unknown_blocks", counts.unknown_blocks},
               {"malformed_blocks", counts.malformed_blocks},
               {"unreadable_events", counts.unreadable_events},
               {"skipped_bytes", counts.skipped_bytes},
               {"torn_at_end", counts.is_torn_at_end},
               {"nprocesses", counts.processes},
               {"processes", processes_json(file)},
               {"communicators", std::move(communicators)},
               {"collectives", std::move(collectives)},
               {"channels", std::move(channels)},
               {"sizes", sizes_json(sizes_of(traced.calls))},
               {"expected_on", traced.on.empty() ? Json() : Json(traced.on)},
               {"expected_error_percent",
                traced.expected.error_percent > 0 ? Json(traced.expected.error_percent) : Json()},
               {"expected_notes", traced.expected.notes}};
  made["endless_calls"] = calls_json(endless_calls(traced.calls));
  if (with_calls) made["calls"] = calls_json(traced.calls);
  if (trace.is_recorded()) {
    made["recorded_by"] = trace.recorded.tools;
    made["notes"] = trace.recorded.notes;
  }
  return made;
}

}  // namespace

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return text;
}

VerbResult run_info(const InfoArguments& arguments) {
  RINGSIDE_TRY(const OpenedTrace trace, open_trace(arguments.files));
  print_idle_settings(arguments.job);
  RINGSIDE_TRY(const TracedCalls traced, traced_calls(trace.file, arguments.job));
  const TraceStatistics all = statistics_of(trace.file);
  if (arguments.json) {
    fmt::print("{}", to_text(document(trace, all, traced, arguments.calls)));
  } else {
    print_text(trace, all, traced, arguments);
  }
  return kFine;
}

}  // namespace ringside::cli
