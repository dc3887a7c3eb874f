#include "gui/window/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/output_file.h"
#include "base/text.h"

namespace ringside::gui {
namespace {

constexpr int kBadUsage = 2;
constexpr int kLargest = 8192;

struct Spoken {
  std::string at, view, range, size, sim;
  study::SimQuestion question;
  int nodes = 1;
  bool is_forced = false;
};

Status read_size(const std::string& text, Arguments& arguments) {
  const auto cross = text.find('x');
  const auto width = parse_int(std::string_view(text).substr(0, cross));
  const auto height = cross == std::string::npos
                          ? Result<std::int64_t>(Error{})
                          : parse_int(std::string_view(text).substr(cross + 1));
  if (!width || !height || *width < 64 || *height < 64 || *width > kLargest || *height > kLargest) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--size {}", text),
                 fmt::format("give WIDTHxHEIGHT, each from 64 to {}: --size 1400x900", kLargest)};
  }
  arguments.width = static_cast<int>(*width);
  arguments.height = static_cast<int>(*height);
  return {};
}

Status read_at(const std::string& text, Arguments& arguments) {
  if (text.ends_with('%')) {
    const auto share = parse_int(std::string_view(text).substr(0, text.size() - 1));
    if (!share || *share < 0 || *share > 100) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--at {}", text),
                   "give 0% to 100%, or a time: --at 12us"};
    }
    arguments.at_percent = static_cast<int>(*share);
    return {};
  }
  RINGSIDE_TRY(arguments.at, parse_time(text));
  return {};
}

Status read_range(const std::string& text, Arguments& arguments) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--range {}", text),
                 "give FROM:TO: --range 10us:20us"};
  }
  RINGSIDE_TRY(const Seconds from, parse_time(std::string_view(text).substr(0, colon)));
  RINGSIDE_TRY(const Seconds to, parse_time(std::string_view(text).substr(colon + 1)));
  arguments.range = {from, to};
  return {};
}

Status check(const Spoken& words, Arguments& arguments) {
  if (!words.size.empty()) RINGSIDE_TRY(read_size(words.size, arguments));
  if (!words.at.empty()) RINGSIDE_TRY(read_at(words.at, arguments));
  if (!words.range.empty()) RINGSIDE_TRY(read_range(words.range, arguments));
  if (!words.view.empty()) {
    RINGSIDE_TRY(arguments.view, parse_view(words.view));
  }
  if (!words.sim.empty()) {
    arguments.simulation = words.question;
    arguments.simulation->calls.collective = words.sim;
    arguments.simulation->job.nodes = words.nodes;
  }
  const int sources = static_cast<int>(!arguments.paths.empty()) +
                      static_cast<int>(!words.sim.empty()) +
                      static_cast<int>(!arguments.lesson.empty());
  if (sources > 1) {
    return Error{ErrorCode::InvalidArgument, "files, --sim and --lesson at once",
                 "give one of them"};
  }
  if (!arguments.record.empty() && !arguments.screenshot.empty()) {
    return Error{ErrorCode::InvalidArgument, "--record and --screenshot at once",
                 "give one of them"};
  }
  const bool is_headless =
      !arguments.screenshot.empty() || !arguments.record.empty() || arguments.prints;
  if (sources == 0 && is_headless) {
    return Error{ErrorCode::InvalidArgument, "nothing to show",
                 "name a trace, a scenario or a folder of dumps; or --lesson ring"};
  }
  std::vector<std::string> inputs = arguments.paths;
  inputs.insert(inputs.end(), {arguments.second, arguments.cluster, words.question.job.on});
  const OutputFile picture{"--screenshot", arguments.screenshot, ContentKind::Png};
  const OutputFile film{"--record", arguments.record, ContentKind::Film};
  RINGSIDE_TRY(check_output(picture, inputs, words.is_forced));
  return check_output(film, inputs, words.is_forced);
}

constexpr const char* kDescription =
    "Watch collectives run, channel by channel: real or simulated.\n\nexamples:\n"
    "  ringside gui run.rtrace\n  ringside gui --lesson ring\n"
    "  ringside gui --sim all_reduce --bytes 16M --on dgx-h100 --nodes 2 --screenshot two.png "
    "--view topology --at 50%";

/// Adds all options.
/// returns  the option --bytes
CLI::Option* declare(CLI::App& app, Arguments& arguments, Spoken& words) {
  words.question.job.on = "dgx-h100";
  words.question.calls.sizes = "16M";
  app.set_version_flag("--version", RINGSIDE_VERSION);
  app.add_option("what", arguments.paths,
                 "traces of one job, a scenario, or Flight Recorder dumps and logs");
  app.add_option("--cluster", arguments.cluster,
                 "the hosts of logs, where these do not show them: as ringside sim takes --on");
  app.add_option("--beside", arguments.second,
                 "a second trace: calls side by side, differences first");
  app.add_option("--lesson", arguments.lesson,
                 "ring, tree, nvls, ll128, channels, overlap or hang");
  app.add_option("--ranks", arguments.numbers.ranks,
                 "ranks of the lesson: 2 to 8, or a multiple of 8");
  app.add_option("--finer", arguments.numbers.finer,
                 "chunks of the lesson: so much smaller than NCCL's buffers make them")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64}));
  app.add_option("--sim", words.sim, "simulate this collective, and show it");
  CLI::Option* const bytes =
      app.add_option("-b,--bytes", words.question.calls.sizes, "size of what is simulated")
          ->capture_default_str();
  app.add_option("--on", words.question.job.on, "where: as ringside sim takes it")
      ->capture_default_str();
  app.add_option("--nodes", words.nodes, "hosts")->capture_default_str();
  app.add_option("--algo", words.question.algorithm, "algorithm (default: NCCL's choice)");
  app.add_option("--proto", words.question.protocol, "protocol (default: NCCL's choice)");
  app.add_option("--channels", words.question.channels, "channels (default: NCCL's choice)");
  app.add_option("--screenshot", arguments.screenshot, "write one frame as PNG; needs no display");
  app.add_option(
      "--record", arguments.record,
      "play it into a film, F.webm, .mp4 or .gif, with --range a part of it; needs ffmpeg and no "
      "display");
  app.add_flag("--force", words.is_forced, "overwrite a file of another kind");
  app.add_option("--seconds", arguments.seconds, "how long the film is")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  app.add_flag("--print", arguments.prints, "print what the view shows as text; needs no display");
  app.add_option("--at", words.at, "moment: a time from the beginning, or 50%");
  app.add_option("--view", words.view,
                 "timeline, topology, chunks, slots, numbers, findings or compare");
  app.add_option("--range", words.range, "the timeline from FROM:TO");
  app.add_option("--choose", arguments.choose,
                 "choose the first event that a search finds: 'rank=3 step=2'");
  app.add_option("--size", words.size, "WIDTHxHEIGHT (default: 1400x900)");
  app.add_option("--scale", arguments.scale, "size of letters and lines")
      ->check(CLI::Range(0.5, 4.0))
      ->capture_default_str();
  app.add_flag("--light", arguments.is_light, "dark letters on light");
  return bytes;
}

}  // namespace

CommandText arguments_text() {
  Arguments arguments;
  Spoken words;
  CLI::App app{kDescription, "ringside gui"};
  declare(app, arguments, words);
  return command_text(app);
}

ParsedArguments parse_arguments(int argc, char** argv) {
  ParsedArguments parsed;
  Arguments& arguments = parsed.arguments;
  Spoken words;
  CLI::App app{kDescription, "ringside gui"};
  const CLI::Option* const bytes = declare(app, arguments, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    const int status = app.exit(end);
    parsed.status = status == 0 ? 0 : kBadUsage;
    return parsed;
  }
  if (bytes->count() > 0) arguments.numbers.bytes = words.question.calls.sizes;
  if (const Status fine = check(words, arguments); !fine) {
    fmt::print(stderr, "error: {}\nhelp:  {}\n", fine.error().message, fine.error().help);
    parsed.status = kBadUsage;
  }
  return parsed;
}

}  // namespace ringside::gui
