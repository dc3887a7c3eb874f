#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <ext/stdio_filebuf.h>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/write_file.h"
#include "cli/job_options.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/trace_calls.h"
#include "cli/verb.h"
#include "ringside/trace_export.h"
#include "ringside/trace_reader.h"
#include "study/expected_busbw.h"
#include "study/interchange/recorded_trace.h"
#include "trace/file_sink.h"
#include "trace/html.h"
#include "trace/merge.h"
#include "trace/statistics.h"

namespace ringside::cli {
namespace {

/// Rows of the channel table without --all: what a screen holds.
constexpr std::size_t kChannelRows = 32;
constexpr std::size_t kFewPids = 8;

struct TraceArguments {
  Options* info = nullptr;
  Options* perfetto = nullptr;
  Options* merge = nullptr;
  Options* import = nullptr;
  std::string file;
  std::vector<std::string> files;  ///< of a merge, an import or info
  JobOptions job;                  ///< of info: the hosts that the trace was recorded on
  bool all = false;
  bool calls = false;
  bool to_perfetto = false;
  std::string html;  ///< the page to be written
  bool json = false;
  std::string out;     ///< of an export
  std::string merged;  ///< of a merge
};

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

Seconds to_seconds(Nanoseconds time) { return Seconds{time}; }

/// Text from the file, without control characters for a terminal.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return text;
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

/// The hosts are those of --on, else those that the trace states.
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

/// Nothing if the file's numbers give no time after 1970.
std::string wall_time(const TraceInfo& info, std::int64_t begin_ns) {
  std::int64_t ns = 0;
  if (__builtin_add_overflow(info.realtime_offset.count(), begin_ns, &ns) || ns <= 0) return {};
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC by the host's clock",
                     fmt::gmtime(std::time_t{ns / 1'000'000'000}));
}

void print_recorders(const OpenedTrace& trace, const TraceStatistics& all) {
  line("recorded", fmt::format("by {}, {} from the first event to the last", trace.recorded.tools,
                               format_time(to_seconds(all.span()))));
  constexpr std::int64_t kDated =
      1'000'000'000'000'000'000;  // the year 2001: not a time since a start
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
                            format_time(to_seconds(all.span()))));
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
    for (std::size_t i = 0; i < std::min(kFewPids, file.processes().size()); ++i) {
      pids += fmt::format("{}{}", i == 0 ? "" : ", ", file.processes()[i].pid);
    }
    where += fmt::format(" (pid {}{})", pids, processes > kFewPids ? ", ..." : "");
  } else {
    for (std::size_t i = 1; i < std::min(kFewPids, hosts.size()); ++i) where += ", " + hosts[i];
    if (hosts.size() > kFewPids) where += fmt::format(" and {} more", hosts.size() - kFewPids);
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
               short_bytes(one.mean_bytes()), format_time(to_seconds(one.mean_time())),
               format_time(to_seconds(one.longest)), one.is_modelled ? "  modelled" : "");
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
               to_int(row.channel), row.primitives, short_bytes(row.sent),
               format_time(to_seconds(row.busy)), format_time(to_seconds(row.waiting)),
               in_gbs(row.achieved()));
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
                const TraceArguments& arguments) {
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
         {"mean_us", in_us(to_seconds(one.mean_time()))},
         {"max_us", in_us(to_seconds(one.longest))}});
  }
  Json channels = Json::array();
  for (const ChannelStatistics& one : all.channels) {
    channels.push_back({{"communicator", one.communicator},
                        {"rank", to_int(one.rank)},
                        {"channel", to_int(one.channel)},
                        {"primitives", one.primitives},
                        {"sent_bytes", one.sent.value},
                        {"busy_us", in_us(to_seconds(one.busy))},
                        {"waiting_us", in_us(to_seconds(one.waiting))},
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
               {"span_us", in_us(to_seconds(all.span()))},
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

VerbResult run_info(const TraceArguments& arguments) {
  RINGSIDE_TRY(const OpenedTrace trace, open_trace(arguments.files));
  note_idle_settings(arguments.job);
  RINGSIDE_TRY(const TracedCalls traced, traced_calls(trace.file, arguments.job));
  const TraceStatistics all = statistics_of(trace.file);
  if (arguments.json) {
    fmt::print("{}", to_text(document(trace, all, traced, arguments.calls)));
  } else {
    print_text(trace, all, traced, arguments);
  }
  return kFine;
}

/// Calls `write` with a stream to a new file at `path`. If that fails, an older file stays.
template <typename Write>
auto write_to(const std::string& path, const Write& write)
    -> decltype(write(std::declval<std::ostream&>())) {
  NewFile fresh(path);
  UniqueFd file = fresh.open();
  if (!file) return system_error(fmt::format("{}: cannot be written", path), errno);
  // std::ofstream cannot take a descriptor. The buffer closes it.
  __gnu_cxx::stdio_filebuf<char> buffer(file.release(), std::ios::out | std::ios::binary);
  std::ostream out(&buffer);
  auto written = write(out);
  buffer.close();
  if (!written) {
    Error error = std::move(written).error();
    error.message = fmt::format("{}: {}", path, error.message);
    return error;
  }
  RINGSIDE_TRY(fresh.keep());
  return written;
}

VerbResult run_html(const TraceArguments& arguments) {
  RINGSIDE_TRY(const TraceFile file, TraceFile::open(arguments.file));
  const std::string title = std::filesystem::path(arguments.file).filename().string();
  RINGSIDE_TRY(const HtmlCounts counts, write_to(arguments.html, [&](std::ostream& out) {
                 return export_html(file, title, out);
               }));
  fmt::print("{}: {}, {} bytes; open it in a browser\n", arguments.html,
             plural(counts.events, "event", "events"), counts.bytes);
  return kFine;
}

VerbResult run_perfetto(const TraceArguments& arguments) {
  const std::string path =
      arguments.out.empty()
          ? std::filesystem::path(arguments.file).replace_extension(".json").string()
          : arguments.out;
  RINGSIDE_TRY(arguments.perfetto->check_output({.path = path, .kind = ContentKind::PerfettoJson}));
  RINGSIDE_TRY(const TraceFile file, TraceFile::open(arguments.file));
  const auto write = [&](std::ostream& out) {
    Progress progress("export");
    return export_perfetto(file, out, [&](double share) { progress.show(share); });
  };
  const bool is_stdout = path == "-";
  RINGSIDE_TRY(const PerfettoCounts counts, is_stdout ? write(std::cout) : write_to(path, write));
  fmt::print(is_stdout ? stderr : stdout,
             "{}: {}, {}; open it at https://ui.perfetto.dev or in chrome://tracing\n",
             is_stdout ? "stdout" : path, plural(counts.events, "event", "events"),
             plural(counts.arrows, "arrow", "arrows"));
  if (counts.unmatched_halves > 0) {
    fmt::print(stderr, "note: {} without an arrow: the other half is not in the file\n",
               plural(counts.unmatched_halves, "send or receive", "sends or receives"));
  }
  return kFine;
}

VerbResult run_export(const TraceArguments& arguments) {
  if (arguments.to_perfetto == !arguments.html.empty()) {
    return Error{ErrorCode::InvalidArgument,
                 arguments.to_perfetto ? "two formats at once" : "no format",
                 "give --perfetto, or --html F.html"};
  }
  return arguments.to_perfetto ? run_perfetto(arguments) : run_html(arguments);
}

// ---- merge -------------------------------------------------------------------------------------

void print_merge(const TraceMerge& made, const TraceArguments& arguments) {
  fmt::print("{}: {} of {} on the clock of {}\n", arguments.merged,
             plural(made.events, "event", "events"), plural(made.processes, "process", "processes"),
             printable(made.clocks.front().host));
  fmt::print("\n  {:<20}{:>10}{:>12}{:>12}{:>11}  {}\n", "host", "processes", "moved by",
             "known to", "transfers", "by");
  for (const AlignedClock& clock : made.clocks) {
    const bool is_known = clock.evidence == ClockEvidence::Messages;
    fmt::print("  {:<20}{:>10}{:>12}{:>12}{:>11}  {}{}\n", printable(clock.host), clock.processes,
               format_time(to_seconds(clock.moved)),
               is_known ? "+-" + format_time(to_seconds(clock.uncertainty)) : "", clock.messages,
               to_string(clock.evidence),
               clock.pieces > 1 ? fmt::format(", drifting: {} pieces", clock.pieces) : "");
  }
  fmt::print("\n  moved by: in addition to the difference of the hosts' wall clocks\n");
  if (made.unreadable_events > 0) {
    fmt::print(stderr, "note: {} left behind\n",
               plural(made.unreadable_events, "unreadable event", "unreadable events"));
  }
}

Json document(const TraceMerge& made, const std::string& path) {
  Json clocks = Json::array();
  for (const AlignedClock& clock : made.clocks) {
    clocks.push_back({{"host", clock.host},
                      {"nprocesses", clock.processes},
                      {"by", to_string(clock.evidence)},
                      {"moved_ns", clock.moved.count()},
                      {"uncertainty_ns", clock.uncertainty.count()},
                      {"transfers", clock.messages},
                      {"pieces", clock.pieces}});
  }
  return {{"schema", "ringside.trace_merge/1"},
          {"file", path},
          {"events", made.events},
          {"nprocesses", made.processes},
          {"unreadable_events", made.unreadable_events},
          {"clocks", std::move(clocks)}};
}

VerbResult run_merge(const TraceArguments& arguments) {
  std::vector<TraceFile> files;
  for (const std::string& path : arguments.files) {
    RINGSIDE_TRY(TraceFile file, TraceFile::open(path));
    files.push_back(std::move(file));
  }
  std::vector<const TraceFile*> places;
  places.reserve(files.size());
  for (const TraceFile& file : files) places.push_back(&file);
  NewFile fresh(arguments.merged);
  RINGSIDE_TRY(const std::shared_ptr<TraceFileSink> sink,
               TraceFileSink::create(fresh.draft(), fresh.open(O_APPEND)));
  Progress progress("merge");
  RINGSIDE_TRY(const TraceMerge made, merge_traces(places, arguments.files, *sink,
                                                   [&](double share) { progress.show(share); }));
  RINGSIDE_TRY(fresh.keep());
  if (arguments.json) {
    fmt::print("{}", to_text(document(made, arguments.merged)));
  } else {
    print_merge(made, arguments);
  }
  return kFine;
}

VerbResult run_import(const TraceArguments& arguments) {
  RINGSIDE_TRY(const study::RecordedTrace made, study::trace_of_recordings(arguments.files));
  RINGSIDE_TRY(write_file(arguments.merged,
                          {reinterpret_cast<const char*>(made.bytes.data()), made.bytes.size()}));
  fmt::print("{}: calls recorded by {}\n", arguments.merged, printable(made.tools));
  for (const std::string& note : made.notes) fmt::print(stderr, "note: {}\n", printable(note));
  return kFine;
}

}  // namespace

Verb trace_verb() {
  return {
      "trace",
      "Look into an .rtrace file, export it for Perfetto or a browser, merge those of several "
      "hosts",
      {"ringside trace info run.rtrace", "ringside trace export --perfetto run.rtrace -o run.json"},
      [](Options& app) {
        auto arguments = std::make_shared<TraceArguments>();
        TraceArguments& a = *arguments;
        a.info = app.add_subcommand(
            "info",
            "Counts, span, bandwidths; with --on (or if the trace states its hosts) what "
            "ringside sim expects there");
        a.info
            ->add_option("files", a.files,
                         "the .rtrace file; or the files or the folder of a job that PyTorch's "
                         "profiler, nsys export "
                         "--type sqlite, NCCL's Inspector or torchcomms' clog recorded")
            ->required();
        a.info->add_flag("--calls", a.calls,
                         "every collective: size, bandwidth, skew, the last rank");
        a.info->add_flag("--all", a.all, "every channel and call, however many");
        add_job_options(*a.info, a.job)->required(false);
        a.info->add_flag("--json", a.json, "one JSON document on stdout");
        a.perfetto = app.add_subcommand("export", "Write it in another format");
        a.perfetto->add_flag("--perfetto", a.to_perfetto,
                             "Chrome's JSON, for ui.perfetto.dev and chrome://tracing");
        a.perfetto->add_output("--html", a.html, ContentKind::WebPage,
                               "one page that plays it in a browser, written here");
        a.perfetto->add_option("file", a.file, "the .rtrace file")->required();
        a.perfetto->add_output("-o,--out", a.out, ContentKind::PerfettoJson,
                               "where to; - is stdout (default: FILE with .json)");
        a.merge =
            app.add_subcommand("merge", "One file of several hosts' or processes', clocks aligned");
        a.merge
            ->add_option("files", a.files,
                         "the .rtrace files of one job; the first one's clock stays")
            ->required();
        a.merge
            ->add_output("-o,--out", a.merged, ContentKind::Trace, "the .rtrace file to be written")
            ->required();
        a.merge->add_flag("--json", a.json, "one JSON document on stdout");
        a.import =
            app.add_subcommand("import", "Make an .rtrace file of what other tools recorded");
        a.import->add_option("files", a.files, "as for info")->required();
        a.import
            ->add_output("-o,--out", a.merged, ContentKind::Trace, "the .rtrace file to be written")
            ->required();
        return [arguments] {
          if (arguments->info->parsed()) return run_info(*arguments);
          if (arguments->import->parsed()) return run_import(*arguments);
          return arguments->merge->parsed() ? run_merge(*arguments) : run_export(*arguments);
        };
      }};
}

}  // namespace ringside::cli
