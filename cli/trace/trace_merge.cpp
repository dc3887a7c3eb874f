#include <fcntl.h>
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/write_file.h"
#include "cli/progress.h"
#include "cli/trace/subcommands.h"
#include "ringside/trace_reader.h"
#include "study/interchange/recorded_trace.h"
#include "trace/file_sink.h"
#include "trace/merge.h"

namespace ringside::cli {
namespace {

void print_merge(const TraceMerge& made, const MergeArguments& arguments) {
  fmt::print("{}: {} of {} on the clock of {}\n", arguments.out,
             plural(made.events, "event", "events"), plural(made.processes, "process", "processes"),
             printable(made.clocks.front().host));
  fmt::print("\n  {:<20}{:>10}{:>12}{:>12}{:>11}  {}\n", "host", "processes", "moved by",
             "known to", "transfers", "by");
  for (const AlignedClock& clock : made.clocks) {
    const bool is_known = clock.evidence == ClockEvidence::Messages;
    fmt::print("  {:<20}{:>10}{:>12}{:>12}{:>11}  {}{}\n", printable(clock.host), clock.processes,
               format_time(clock.moved), is_known ? "+-" + format_time(clock.uncertainty) : "",
               clock.messages, to_string(clock.evidence),
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

}  // namespace

VerbResult run_merge(const MergeArguments& arguments) {
  std::vector<TraceFile> files;
  for (const std::string& path : arguments.files) {
    RINGSIDE_TRY(TraceFile file, TraceFile::open(path));
    files.push_back(std::move(file));
  }
  std::vector<const TraceFile*> places;
  places.reserve(files.size());
  for (const TraceFile& file : files) places.push_back(&file);
  NewFile fresh(arguments.out);
  RINGSIDE_TRY(std::shared_ptr<TraceFileSink> sink,
               TraceFileSink::create(fresh.draft(), fresh.open(O_APPEND)));
  Progress progress("merge");
  RINGSIDE_TRY(const TraceMerge made, merge_traces(places, arguments.files, *sink,
                                                   [&](double share) { progress.show(share); }));
  sink.reset();  // closes the file, as keep() requires
  RINGSIDE_TRY(fresh.keep());
  if (arguments.json) {
    fmt::print("{}", to_text(document(made, arguments.out)));
  } else {
    print_merge(made, arguments);
  }
  return kFine;
}

VerbResult run_import(const MergeArguments& arguments) {
  RINGSIDE_TRY(const study::RecordedTrace made, study::trace_of_recordings(arguments.files));
  RINGSIDE_TRY(write_file(arguments.out,
                          {reinterpret_cast<const char*>(made.bytes.data()), made.bytes.size()}));
  fmt::print("{}: calls recorded by {}\n", arguments.out, printable(made.tools));
  for (const std::string& note : made.notes) fmt::print(stderr, "note: {}\n", printable(note));
  return kFine;
}

}  // namespace ringside::cli
