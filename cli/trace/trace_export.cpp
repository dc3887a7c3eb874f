#include "ringside/trace_export.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <ext/stdio_filebuf.h>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/wording.h"
#include "base/write_file.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/trace/subcommands.h"
#include "ringside/trace_reader.h"
#include "trace/html.h"

namespace ringside::cli {
namespace {

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
  const bool is_closed = buffer.close() != nullptr;
  const int why = errno;
  if (!written) {
    Error error = std::move(written).error();
    error.message = fmt::format("{}: {}", path, error.message);
    return error;
  }
  // Some file systems report a full disk only when the file is closed.
  if (!is_closed) return system_error(fmt::format("{}: cannot be written", path), why);
  RINGSIDE_TRY(fresh.keep());
  return written;
}

VerbResult run_html(const ExportArguments& arguments) {
  RINGSIDE_TRY(const TraceFile file, TraceFile::open(arguments.file));
  const std::string title = std::filesystem::path(arguments.file).filename().string();
  RINGSIDE_TRY(const HtmlCounts counts, write_to(arguments.html, [&](std::ostream& out) {
                 return export_html(file, title, out);
               }));
  fmt::print("{}: {}, {} bytes; open it in a browser\n", arguments.html,
             plural(counts.events, "event", "events"), counts.bytes);
  return kFine;
}

VerbResult run_perfetto(const ExportArguments& arguments, const Options& app) {
  const std::string path =
      arguments.out.empty()
          ? std::filesystem::path(arguments.file).replace_extension(".json").string()
          : arguments.out;
  RINGSIDE_TRY(app.check_output({.path = path, .kind = ContentKind::PerfettoJson}));
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

}  // namespace

VerbResult run_export(const ExportArguments& arguments, const Options& app) {
  if (arguments.to_perfetto == !arguments.html.empty()) {
    return Error{ErrorCode::InvalidArgument,
                 arguments.to_perfetto ? "two formats at once" : "no format",
                 "give --perfetto, or --html F.html"};
  }
  return arguments.to_perfetto ? run_perfetto(arguments, app) : run_html(arguments);
}

}  // namespace ringside::cli
