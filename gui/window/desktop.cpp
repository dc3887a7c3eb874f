#include "gui/window/desktop.h"

#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "gui/draw/palette.h"
#include "gui/window/fonts.h"
#include "gui/window/headless.h"
#include "gui/window/loader.h"
#include "gui/window/settings.h"

namespace ringside::gui {
namespace {

/// Files that GLFW's callbacks report as dropped, until the next frame.
struct Dropped {
  std::vector<std::string> paths;
};

/// Returns a file's key in the settings.
std::string key_of(const std::string& path) {
  std::error_code failed;  // the current folder may have been removed
  const std::string whole = std::filesystem::absolute(path, failed).string();
  return failed ? path : whole;
}

class Window {
 public:
  explicit Window(const Arguments& arguments)
      : arguments_(arguments),
        settings_path_(settings_path()),
        settings_(load_settings(settings_path_)) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  ~Window() {
    if (window_ == nullptr) return;
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    glfwDestroyWindow(window_);
    glfwTerminate();
  }

  Status run() {
    RINGSIDE_TRY(open_window());
    session_.state().is_dark = arguments_.is_light ? false : settings_.is_dark;
    lesson_ = lesson_bar(arguments_);
    const bool is_asked =
        !arguments_.paths.empty() || arguments_.simulation || !arguments_.lesson.empty();
    if (is_asked) {
      key_ = arguments_.paths.empty() ? std::string() : key_of(arguments_.paths.front());
      load(key_.empty() ? "simulating" : "opening " + arguments_.paths.front(),
           [arguments = arguments_](const OnProgress& progress, const OnPart& part) {
             return open_asked(arguments, progress, part);
           });
    }
    while (glfwWindowShouldClose(window_) == 0) frame();
    remember();
    glfwGetWindowSize(window_, &settings_.width, &settings_.height);
    save_settings(settings_, settings_path_);
    return {};
  }

 private:
  Status open_window() {
    const char* words = nullptr;
    if (glfwInit() == GLFW_FALSE) {
      glfwGetError(&words);
      return Error{ErrorCode::Unsupported,
                   fmt::format("no window: {}", words == nullptr ? "no display" : words),
                   "--screenshot F.png draws without a display; ringside trace export --html "
                   "F.html writes a page for any browser"};
    }
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    fit_the_screen();
    window_ = glfwCreateWindow(settings_.width, settings_.height, "ringside", nullptr, nullptr);
    if (window_ == nullptr) {
      glfwGetError(&words);
      const std::string why = words == nullptr ? "no OpenGL 3.3" : words;
      glfwTerminate();
      return Error{ErrorCode::Unsupported, fmt::format("no window: {}", why),
                   "--screenshot F.png draws without a display; ringside trace export --html "
                   "F.html writes a page for any browser"};
    }
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(1);
    glfwSetWindowUserPointer(window_, &dropped_);
    glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** paths) {
      auto* const dropped = static_cast<Dropped*>(glfwGetWindowUserPointer(window));
      dropped->paths.assign(paths, paths + count);
    });
    float x = 1;
    float y = 1;
    glfwGetWindowContentScale(window_, &x, &y);
    scale_ = static_cast<float>(arguments_.scale) * std::max(1.0F, x);
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    load_fonts(scale_);
    if (Status started = start_drawing(); !started) {
      ImGui::DestroyContext();
      glfwDestroyWindow(std::exchange(window_, nullptr));
      glfwTerminate();
      return started;
    }
    ImGui_ImplGlfw_InitForOpenGL(window_, true);
    return {};
  }

  /// No larger than the desktop's work area.
  void fit_the_screen() {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
    GLFWmonitor* const screen = glfwGetPrimaryMonitor();
    if (screen != nullptr) glfwGetMonitorWorkarea(screen, &x, &y, &width, &height);
    if (width > 0) settings_.width = std::min(settings_.width, width);
    if (height > 0) settings_.height = std::min(settings_.height, height);
  }

  void load(std::string what, Loader::Open open) {
    remember();
    has_part_ = false;
    again_ = false;  // take() sets it again
    loader_.start(std::move(what), std::move(open));
  }

  void remember() {
    if (session_.document() != nullptr && !shown_key_.empty() && !has_part_)
      settings_.remember(shown_key_, session_.state());
    settings_.is_dark = session_.state().is_dark;
  }

  void frame() {
    // Without activity nothing is redrawn: an idle window costs nothing.
    if (session_.state().is_playing || session_.is_preparing() || !loader_.what().empty() ||
        fresh_frames_ > 0) {
      glfwPollEvents();
      fresh_frames_ = std::max(fresh_frames_ - 1, 0);
    } else {
      glfwWaitEventsTimeout(0.5);
      fresh_frames_ = 3;
    }
    take_loaded();
    take_dropped();
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    if (session_.document() != nullptr) {
      advance(session_.state(), *session_.document(),
              static_cast<double>(ImGui::GetIO().DeltaTime));
    }
    const FrameRequests requests =
        frame_.draw(session_, loader_.what(), loader_.done(), lesson_, scale_);
    ImGui::Render();
    int width = 0;
    int height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    glViewport(0, 0, width, height);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    glfwSwapBuffers(window_);
    take(requests);
  }

  void take_loaded() {
    if (auto part = loader_.poll_part(); part != nullptr && !is_second_) {
      has_part_ = true;
      show(std::move(part));
    }
    auto opened = loader_.poll();
    if (!opened) return;
    if (!*opened) {
      session_.message = fmt::format("{}; {}", opened->error().message, opened->error().help);
      again_ = is_second_ = false;
      return;
    }
    if (is_second_) {
      is_second_ = false;
      session_.compare_with(std::move(**opened));
      session_.state().view = View::Compare;
      return;
    }
    if (std::exchange(has_part_, false)) {
      const bool goes_where_asked = session_.is_untouched();
      session_.complete(std::move(**opened));
      if (goes_where_asked) go_to_start();
    } else if (again_) {
      session_.replace(std::move(**opened));
    } else {
      show(std::move(**opened));
      go_to_start();
    }
    again_ = false;
    if (!std::exchange(is_first_, false) || arguments_.second.empty()) return;
    is_second_ = true;
    load("opening " + arguments_.second,
         [path = arguments_.second](const OnProgress& progress, const OnPart&) {
           return open_paths({path}, progress);
         });
  }

  void show(std::shared_ptr<const Document> document) {
    session_.open(std::move(document));
    shown_key_ = key_;
    glfwSetWindowTitle(window_, fmt::format("{} - ringside", session_.document()->title).c_str());
  }

  /// Goes to the position at which the file was last closed; the command line's settings take precedence.
  void go_to_start() {
    if (!lesson_) show_hang(session_);
    settings_.restore(shown_key_, *session_.document(), session_.state());
    if (is_first_) {
      if (const Status went = go_where_asked(arguments_, session_); !went)
        session_.message = went.error().message;
      return;
    }
    if (!lesson_) return;
    if (const auto lesson = find_lesson(lesson_->name)) session_.state().view = lesson->view;
    session_.state().is_playing = true;
  }

  void take_dropped() {
    if (dropped_.paths.empty()) return;
    open_files(std::exchange(dropped_.paths, {}));
  }

  void open_files(std::vector<std::string> paths) {
    // Dropped onto the comparing view, it is the document to compare with.
    is_second_ = session_.document() != nullptr && session_.state().view == View::Compare;
    if (!is_second_) {
      key_ = key_of(paths.front());
      lesson_.reset();
    }
    load("opening " + paths.front(),
         [paths, cluster = arguments_.cluster](const OnProgress& progress, const OnPart& part) {
           return open_paths(paths, progress, part, cluster);
         });
  }

  void take(const FrameRequests& requests) {
    if (requests.closes) glfwSetWindowShouldClose(window_, GLFW_TRUE);
    if (!requests.lesson.empty()) start_lesson({.name = requests.lesson});
    if (requests.again) {
      start_lesson(*requests.again);
      again_ = true;
    }
    if (!requests.paths.empty()) open_files(requests.paths);
  }

  void start_lesson(const LessonBar& wanted) {
    Arguments arguments;
    arguments.lesson = wanted.name;
    arguments.numbers = wanted.numbers;
    lesson_ = lesson_bar(arguments);
    key_.clear();
    is_second_ = false;
    load("simulating", [arguments](const OnProgress& progress, const OnPart& part) {
      return open_asked(arguments, progress, part);
    });
  }

  const Arguments& arguments_;
  std::string settings_path_;
  Settings settings_;
  GLFWwindow* window_ = nullptr;
  Session session_{Making::InWorker};
  Frame frame_;
  Loader loader_;
  Dropped dropped_;
  std::optional<LessonBar> lesson_;
  std::string key_;         ///< key, in the settings, of the document that is being opened
  std::string shown_key_;   ///< key of the document that is shown
  bool is_first_ = true;    ///< the document of the command line is not open yet
  bool is_second_ = false;  ///< the document being opened is the one to compare with
  bool has_part_ = false;   ///< the beginning of the document being opened is shown
  bool again_ = false;      ///< the document being opened is the shown lesson with other numbers
  float scale_ = 1;
  int fresh_frames_ = 3;
};

}  // namespace

std::optional<LessonBar> lesson_bar(const Arguments& arguments) {
  if (arguments.lesson.empty()) return std::nullopt;
  const auto lesson = find_lesson(arguments.lesson);
  if (!lesson) return std::nullopt;
  LessonBar bar{lesson->name, numbers_of(*lesson)};
  const LessonNumbers& asked = arguments.numbers;
  if (asked.ranks > 0 && bar.numbers.ranks > 0) bar.numbers.ranks = asked.ranks;
  if (!asked.bytes.empty()) bar.numbers.bytes = asked.bytes;
  bar.numbers.finer = asked.finer;
  return bar;
}

Opened open_asked(const Arguments& arguments, const OnProgress& on_progress,
                  const OnPart& on_part) {
  if (!arguments.lesson.empty()) {
    RINGSIDE_TRY(Lesson lesson, find_lesson(arguments.lesson));
    RINGSIDE_TRY(set_numbers(lesson, arguments.numbers));
    return open_lesson(lesson, on_progress);
  }
  if (arguments.simulation) return open_simulation(*arguments.simulation, on_progress);
  return open_paths(arguments.paths, on_progress, on_part, arguments.cluster);
}

void show_hang(Session& session) {
  const bool is_hang = std::ranges::any_of(
      session.document()->findings,
      [](const Finding& finding) { return finding.weight == Finding::Weight::Fault; });
  if (!is_hang && (!session.document()->calls.empty() || session.document()->findings.empty()))
    return;
  session.state().view = View::Findings;
  session.state().now_ns = session.document()->whole().end_ns;
}

TimeRange played_range(const Arguments& arguments, const Document& document) {
  const TimeRange whole = document.whole();
  if (!arguments.range) return whole;
  const auto moment = [&](Seconds time) {
    return std::clamp<std::int64_t>(whole.begin_ns + std::llround(time.count() * 1e9),
                                    whole.begin_ns, whole.end_ns);
  };
  return {moment(arguments.range->first), moment(arguments.range->second)};
}

Status go_where_asked(const Arguments& arguments, Session& session) {
  State& state = session.state();
  const Document& document = *session.document();
  const TimeRange whole = document.whole();
  const auto moment = [&](Seconds time) -> std::int64_t {
    return whole.begin_ns + std::llround(time.count() * 1e9);
  };
  if (!arguments.lesson.empty()) {
    RINGSIDE_TRY(const Lesson lesson, find_lesson(arguments.lesson));
    state.view = lesson.view;
  }
  if (arguments.lesson.empty()) show_hang(session);
  if (arguments.view) state.view = *arguments.view;
  if (arguments.range) show_range(state, document, played_range(arguments, document));
  if (!arguments.choose.empty()) {
    state.search = arguments.choose;
    session.press(Command::FindNext);
    if (state.event == kNoEvent) return Error{ErrorCode::InvalidArgument, session.message, ""};
    session.message.clear();
  }
  const bool is_still = !arguments.screenshot.empty() || arguments.prints;
  if (is_still && arguments.choose.empty()) state.now_ns = moment_of_still(document);
  if (arguments.at) state.now_ns = std::clamp(moment(*arguments.at), whole.begin_ns, whole.end_ns);
  if (arguments.at_percent)
    state.now_ns = whole.begin_ns + share_of(whole.end_ns - whole.begin_ns, *arguments.at_percent);
  if (is_still && arguments.choose.empty()) session.show_current_call();
  return {};
}

Status run_window(const Arguments& arguments) { return Window(arguments).run(); }

}  // namespace ringside::gui
