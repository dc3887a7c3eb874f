#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "base/report_error.h"
#include "base/write_file.h"
#include "gui/window/arguments.h"
#include "gui/window/desktop.h"
#include "gui/window/headless.h"
#include "gui/window/recording.h"

namespace ringside::gui {
namespace {

/// Opens the document of the arguments in this thread: for a picture, or for text.
Result<std::unique_ptr<Session>> opened_session(const Arguments& arguments) {
  auto session = std::make_unique<Session>();
  RINGSIDE_TRY(auto document, open_asked(arguments, {}));
  session->state().is_dark = !arguments.is_light;
  session->open(std::move(document));
  if (!arguments.second.empty()) {
    RINGSIDE_TRY(auto other, open_paths({arguments.second}));
    session->compare_with(std::move(other));
  }
  RINGSIDE_TRY(go_where_asked(arguments, *session));
  return session;
}

Status run_asked(const Arguments& arguments) {
  if (arguments.screenshot.empty() && arguments.record.empty() && !arguments.prints) {
    return run_window(arguments);
  }
  RINGSIDE_TRY(const auto session, opened_session(arguments));
  if (arguments.prints) {
    fmt::print("{}", to_text(session->prepare({.width = static_cast<float>(arguments.width),
                                               .height = static_cast<float>(arguments.height)})));
    if (arguments.screenshot.empty() && arguments.record.empty()) return {};
  }
  Frame frame;
  const auto lesson = lesson_bar(arguments);
  const auto scale = static_cast<float>(arguments.scale);
  if (!arguments.record.empty()) {
    const TimeRange played = played_range(arguments, *session->document());
    return write_recording(
        {arguments.record, arguments.width, arguments.height, scale, arguments.seconds},
        [&](double share) {
          session->state().now_ns =
              played.begin_ns +
              std::llround(share * static_cast<double>(played.end_ns - played.begin_ns));
          frame.draw(*session, {}, 0, lesson, scale);
        });
  }
  return write_screenshot(arguments.screenshot, arguments.width, arguments.height, scale,
                          [&] { frame.draw(*session, {}, 0, lesson, scale); });
}

Result<int> run(int argc, char** argv) {
  const ParsedArguments parsed = parse_arguments(argc, argv);
  if (parsed.status) return *parsed.status;
  RINGSIDE_TRY(run_asked(parsed.arguments));
  return 0;
}

}  // namespace
}  // namespace ringside::gui

int main(int argc, char** argv) {
  ringside::report_exceptions_of_threads();
  try {
    const auto done = ringside::answer_on_stdout([&] { return ringside::gui::run(argc, argv); });
    if (done) return *done;
    ringside::print_error(done.error());
    return ringside::exit_status(done.error().code);
  } catch (...) {
    return ringside::report_exception();
  }
}
