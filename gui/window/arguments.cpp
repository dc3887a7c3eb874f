#include "gui/window/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/output_file.h"
#include "base/text.h"

namespace ringside::gui {
namespace {

constexpr int kBadUsage = 2;
constexpr int kSmallestSide = 64;   ///< pixels; less has no room for the toolbar
constexpr int kLargestSide = 8192;  ///< pixels; what software GL draws

/// The texts of options that need more than CLI11's parsing.
struct OptionTexts {
  std::string at, view, range, size, collective;
  study::SimQuestion question;  ///< of --sim
  std::optional<int> nodes = {};
  bool is_forced = false;
};

/// errors  InvalidArgument: not WIDTHxHEIGHT, or out of range
Status parse_size(const std::string& text, Arguments& arguments) {
  const auto cross = text.find('x');
  const auto side = [](std::string_view digits) -> std::optional<int> {
    const auto pixels = parse_int(digits);
    if (!pixels || *pixels < kSmallestSide || *pixels > kLargestSide) return std::nullopt;
    return static_cast<int>(*pixels);
  };
  const auto width = side(std::string_view(text).substr(0, cross));
  const auto height =
      cross == std::string::npos ? std::nullopt : side(std::string_view(text).substr(cross + 1));
  if (!width || !height) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--size {}", text),
                 fmt::format("give WIDTHxHEIGHT, each from {} to {}: --size 1400x900",
                             kSmallestSide, kLargestSide)};
  }
  arguments.width = *width;
  arguments.height = *height;
  return {};
}

/// errors  InvalidArgument: neither 0% to 100% nor a time
Status parse_at(const std::string& text, Arguments& arguments) {
  if (!text.ends_with('%')) {
    RINGSIDE_TRY(arguments.at, parse_time(text));
    return {};
  }
  const auto percent = parse_int(std::string_view(text).substr(0, text.size() - 1));
  if (!percent || *percent < 0 || *percent > 100) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--at {}", text),
                 "give 0% to 100%, or a time: --at 12us"};
  }
  arguments.at_percent = static_cast<int>(*percent);
  return {};
}

/// errors  InvalidArgument: not FROM:TO, each a time
Status parse_range(const std::string& text, Arguments& arguments) {
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

/// Moves what the texts say into the arguments.
/// errors  InvalidArgument: of the first text that cannot be parsed
Status parse_texts(const OptionTexts& texts, Arguments& arguments) {
  if (!texts.size.empty()) RINGSIDE_TRY(parse_size(texts.size, arguments));
  if (!texts.at.empty()) RINGSIDE_TRY(parse_at(texts.at, arguments));
  if (!texts.range.empty()) RINGSIDE_TRY(parse_range(texts.range, arguments));
  if (!texts.view.empty()) {
    RINGSIDE_TRY(arguments.view, parse_view(texts.view));
  }
  if (!texts.collective.empty()) {
    arguments.simulation = texts.question;
    arguments.simulation->calls.collective = texts.collective;
    arguments.simulation->job.nodes = texts.nodes;
  }
  return {};
}

/// Checks that one thing is to be shown, and in one way.
/// errors  InvalidArgument: several, or none without a window in which to open one
Status check_sources(const Arguments& arguments) {
  const int sources = static_cast<int>(!arguments.paths.empty()) +
                      static_cast<int>(arguments.simulation.has_value()) +
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
  return {};
}

/// Checks that no output overwrites an input, or a file of another kind.
/// errors  as check_output()
Status check_outputs(const OptionTexts& texts, const Arguments& arguments) {
  std::vector<std::string> inputs = arguments.paths;
  inputs.insert(inputs.end(), {arguments.second, arguments.cluster, texts.question.job.on});
  const OutputFile picture{"--screenshot", arguments.screenshot, ContentKind::Png};
  const OutputFile film{"--record", arguments.record, ContentKind::Film};
  RINGSIDE_TRY(check_output(picture, inputs, texts.is_forced));
  return check_output(film, inputs, texts.is_forced);
}

constexpr const char* kDescription =
    "Watch collectives run, channel by channel: real or simulated.\n\nexamples:\n"
    "  ringside gui run.rtrace\n  ringside gui --lesson ring\n"
    "  ringside gui --sim all_reduce --bytes 16M --on dgx-h100 --nodes 2 --screenshot two.png "
    "--view topology --at 50%";

/// Adds all options.
/// returns  the option --bytes
CLI::Option* declare(CLI::App& app, Arguments& arguments, OptionTexts& texts) {
  texts.question.job.on = "dgx-h100";
  texts.question.calls.sizes = "16M";
  app.set_version_flag("--version", RINGSIDE_VERSION);
  app.add_option("what", arguments.paths,
                 "traces of one job, a scenario, or Flight Recorder dumps and logs");
  app.add_option("--cluster", arguments.cluster,
                 "the hosts of the logs, if these do not name them; as --on of ringside sim");
  app.add_option("--beside", arguments.second,
                 "a second trace to compare with: calls side by side, differences first");
  app.add_option("--lesson", arguments.lesson,
                 "ring, tree, nvls, ll128, channels, overlap or hang");
  app.add_option("--ranks", arguments.numbers.ranks,
                 "ranks of the lesson: 2 to 8, or a multiple of 8");
  app.add_option("--finer", arguments.numbers.finer,
                 "divide the chunks of the lesson by this, to see more of them")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64}));
  app.add_option("--sim", texts.collective, "simulate this collective, and show it");
  CLI::Option* const bytes =
      app.add_option("-b,--bytes", texts.question.calls.sizes, "bytes of the simulated call")
          ->capture_default_str();
  app.add_option("--on", texts.question.job.on, "hosts of the simulation; as --on of ringside sim")
      ->capture_default_str();
  app.add_option("--nodes", texts.nodes, "number of hosts (default: 1)");
  app.add_option("--algo", texts.question.algorithm, "algorithm (default: NCCL's choice)");
  app.add_option("--proto", texts.question.protocol, "protocol (default: NCCL's choice)");
  app.add_option("--channels", texts.question.channels, "channels (default: NCCL's choice)");
  app.add_option("--screenshot", arguments.screenshot, "write one frame as PNG; needs no display");
  app.add_option("--record", arguments.record,
                 "write a film (.webm, .mp4 or .gif) of the trace, or of --range; needs ffmpeg, "
                 "but no display");
  app.add_flag("--force", texts.is_forced, "overwrite a file of another kind");
  app.add_option("--seconds", arguments.seconds, "length of the film in seconds")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  app.add_flag("--print", arguments.prints, "print what the view shows as text; needs no display");
  app.add_option("--at", texts.at, "the moment to show: a time from the beginning (12us), or 50%");
  app.add_option("--view", texts.view,
                 "timeline, topology, chunks, slots, numbers, findings or compare");
  app.add_option("--range", texts.range, "the part of the timeline to show, FROM:TO (10us:20us)");
  app.add_option("--choose", arguments.choose,
                 "select the first event that a search finds: 'rank=3 step=2'");
  app.add_option("--size", texts.size, "WIDTHxHEIGHT in pixels (default: 1400x900)");
  app.add_option("--scale", arguments.scale, "factor for the size of text and lines")
      ->check(CLI::Range(0.5, 4.0))
      ->capture_default_str();
  app.add_flag("--light", arguments.is_light, "light colours");
  return bytes;
}

}  // namespace

CommandText arguments_text() {
  Arguments arguments;
  OptionTexts texts;
  CLI::App app{kDescription, "ringside gui"};
  declare(app, arguments, texts);
  return command_text(app);
}

ParsedArguments parse_arguments(int argc, char** argv) {
  ParsedArguments parsed;
  Arguments& arguments = parsed.arguments;
  OptionTexts texts;
  CLI::App app{kDescription, "ringside gui"};
  const CLI::Option* const bytes = declare(app, arguments, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    const int status = app.exit(end);
    parsed.status = status == 0 ? 0 : kBadUsage;
    return parsed;
  }
  if (bytes->count() > 0) arguments.numbers.bytes = texts.question.calls.sizes;
  Status valid = parse_texts(texts, arguments);
  if (valid) valid = check_sources(arguments);
  if (valid) valid = check_outputs(texts, arguments);
  if (!valid) {
    fmt::print(stderr, "error: {}\nhelp:  {}\n", valid.error().message, valid.error().help);
    parsed.status = kBadUsage;
  }
  return parsed;
}

}  // namespace ringside::gui
