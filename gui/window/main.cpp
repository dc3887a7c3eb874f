#include <cerrno>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/report_error.h"
#include "gui/window/arguments.h"
#include "gui/window/desktop.h"
#include "gui/window/headless.h"
#include "gui/window/recording.h"

namespace ringside::gui {
namespace {

/// What the arguments ask for, opened here and now: for a picture, or for text.
Result<std::unique_ptr<Session>> opened_session(const Arguments& arguments) {
  auto session = std::make_unique<Session>();
  RINGSIDE_TRY(auto document, open_asked(arguments, {}));
  session->state().is_dark = !arguments.is_light;
  session->open(std::move(document));
  if (!arguments.beside.empty()) {
    RINGSIDE_TRY(auto other, open_paths({arguments.beside}));
    session->compare_with(std::move(other));
  }
  RINGSIDE_TRY(go_where_asked(arguments, *session));
  return session;
}

Status run(const Arguments& arguments) {
  if (arguments.screenshot.empty() && arguments.record.empty() && !arguments.prints) {
    return run_window(arguments);
  }
  RINGSIDE_TRY(const auto session, opened_session(arguments));
  if (arguments.prints) {
    const std::string text =
        to_text(session->prepare({.width = static_cast<float>(arguments.width),
                                  .height = static_cast<float>(arguments.height)}));
    // Not fmt::print(), which throws where stdout takes less than all.
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
      return system_error("stdout: the answer is lost", errno,
                          "free space where stdout leads to, or send it elsewhere");
    }
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

}  // namespace
}  // namespace ringside::gui

int main(int argc, char** argv) {
  ringside::report_exceptions_of_threads();
  try {
    const auto parsed = ringside::gui::parse_arguments(argc, argv);
    if (parsed.status) return *parsed.status;
    const ringside::Status done = ringside::gui::run(parsed.arguments);
    if (done) return 0;
    ringside::print_error(done.error());
    return ringside::exit_status(done.error().code);
  } catch (...) {
    return ringside::report_exception();
  }
}
