#include "gui/draw/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "gui/draw/draw_picture.h"
#include "gui/draw/draw_table.h"
#include "gui/draw/palette.h"
#include "gui/model/session/lesson.h"
#include "gui/model/views/legend.h"

namespace ringside::gui {
namespace {

struct NamedKey {
  ImGuiKey key;
  std::string_view name;
};
constexpr std::array<NamedKey, 7> kNamedKeys{{{ImGuiKey_LeftArrow, "Left"},
                                              {ImGuiKey_RightArrow, "Right"},
                                              {ImGuiKey_UpArrow, "Up"},
                                              {ImGuiKey_DownArrow, "Down"},
                                              {ImGuiKey_Home, "Home"},
                                              {ImGuiKey_End, "End"},
                                              {ImGuiKey_Escape, "Escape"}}};

/// Starts a new line if an item of that width does not fit on this one.
void make_room(float width) {
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

float button_width(const char* text) {
  return ImGui::CalcTextSize(text, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
}

/// Draws text between buttons, on their line.
void words(const std::string& text) {
  make_room(ImGui::CalcTextSize(text.c_str()).x);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(text.c_str());
  ImGui::SameLine();
}

/// Draws a button.  returns  whether it was pressed in this frame
bool button(const char* text, const char* tip) {
  make_room(button_width(text));
  const bool is_pressed = ImGui::Button(text);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", tip);
  ImGui::SameLine();
  return is_pressed;
}

void lesson_buttons(FrameRequests& requests) {
  for (const EmbeddedLesson& one : kLessons) {
    const std::string name(one.name);
    make_room(button_width(name.c_str()));
    if (ImGui::Button(name.c_str())) requests.lesson = name;
    ImGui::SameLine();
  }
  ImGui::NewLine();
}

/// Requests the open lesson with the next larger or smaller number if the command asks for that.
void change_lesson(const LessonBar& lesson, Command command, FrameRequests& requests) {
  struct Change {
    Command command;
    std::size_t choice;
    bool is_more;
  };
  constexpr std::array<Change, 6> kChanges{{{Command::MoreRanks, 0, true},
                                            {Command::FewerRanks, 0, false},
                                            {Command::MoreBytes, 1, true},
                                            {Command::FewerBytes, 1, false},
                                            {Command::LargerChunks, 2, true},
                                            {Command::SmallerChunks, 2, false}}};
  if (lesson.numbers.ranks == 0) return;
  for (const Change& change : kChanges) {
    if (change.command != command) continue;
    requests.again = {lesson.name,
                      next_of(lesson_choices()[change.choice], lesson.numbers, change.is_more)};
  }
}

/// Returns the size of a file, for people.
std::string size_text(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  const auto size = static_cast<double>(bytes);
  return bytes < 1'000'000 ? fmt::format("{:.0f} KB", size / 1e3)
                           : fmt::format("{:.1f} MB", size / 1e6);
}

/// Returns what a view shows.
const char* tip_of(View view) {
  switch (view) {
    case View::Timeline:
      return "what each rank did, over time";
    case View::Topology:
      return "what moves between the ranks, and over what";
    case View::Chunks:
      return "which inputs each rank holds";
    case View::Slots:
      return "the slots of one connection, and who waits for whom";
    case View::Numbers:
      return "rates, the longest chain of steps, the slowest pairs";
    case View::Findings:
      return "what is wrong";
    case View::Compare:
      return "two documents next to each other";
  }
  return "";
}

std::string speed_text(double speed) {
  return fmt::format("{} a second", format_time(Seconds{speed * 1e-9}));
}

Canvas canvas_of(ImVec2 size) {
  return {size.x, size.y, ImGui::GetTextLineHeight(), ImGui::CalcTextSize("nnnnnnnnnn").x / 10};
}

}  // namespace

FrameRequests Frame::draw(Session& session, const std::string& loading, double loaded,
                          const std::optional<LessonBar>& lesson, float scale) {
  FrameRequests requests;
  set_style(session.state().is_dark, scale);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                      ImGuiWindowFlags_NoSavedSettings |
                                      ImGuiWindowFlags_NoBringToFrontOnFocus;
  ImGui::Begin("ringside", nullptr, kFlags);
  if (!loading.empty()) {
    ImGui::ProgressBar(static_cast<float>(loaded), {-1, 0}, loading.c_str());
  }
  if (session.document() == nullptr) {
    welcome(session, !loading.empty(), requests);
  } else {
    keys(session, lesson, requests);
    bar(session);
    caption(session);
    if (lesson) lesson_row(*lesson, requests);
    tabs(session);
    view(session);
    scrubber(session);
    status(session);
  }
  ImGui::End();
  if (shows_open_) open_dialog(session, requests, scale);
  if (session.state().shows_help) help(session, scale);
  return requests;
}

void Frame::keys(Session& session, const std::optional<LessonBar>& lesson,
                 FrameRequests& requests) {
  const ImGuiIO& io = ImGui::GetIO();
  if (is_typing_ || shows_open_) return;  // the dialog handles its own keys
  const auto press = [&](std::string_view key) {
    for (const CommandRow& row : commands()) {
      if (row.key != key) continue;
      if (row.command == Command::Search) wants_search_ = true;
      if (row.command == Command::Open) shows_open_ = true;
      if (row.command == Command::Close) requests.closes = true;
      if (lesson) change_lesson(*lesson, row.command, requests);
      session.press(row.command);
    }
  };
  for (const ImWchar letter : io.InputQueueCharacters) {
    if (letter > 0 && letter < 128) press(std::string(1, static_cast<char>(letter)));
  }
  for (const NamedKey& named : kNamedKeys) {
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(named.key))) press(named.name);
  }
}

void Frame::bar(Session& session) {
  State& state = session.state();
  const Document& document = *session.document();
  if (button("Open", "a file, a folder or a lesson: o")) shows_open_ = true;
  if (button(state.is_playing ? "Stop" : "Play", "space")) session.press(Command::Play);
  if (button("|<", "to the beginning: Home")) session.press(Command::ToBegin);
  if (button("< round", "R")) session.press(Command::LastRound);
  if (button("<", "a primitive back: ,")) session.press(Command::LastPrimitive);
  if (button(">", "to the next end of a primitive: .")) session.press(Command::NextPrimitive);
  if (button("round >", "r")) session.press(Command::NextRound);
  if (button("call >", "n")) session.press(Command::NextCall);
  if (button("-##slower", "half as fast: <")) session.press(Command::Slower);
  words(speed_text(state.speed));
  if (button("+##faster", "twice as fast: >")) session.press(Command::Faster);
  const std::int64_t origin = document.whole().begin_ns;
  words("at " +
        exact_time(state.now_ns - origin, std::max<std::int64_t>(state.now_ns - origin, 1)));
  const float search_width = ImGui::GetFontSize() * 14;
  const float width = search_width + ImGui::GetStyle().ItemSpacing.x + button_width("? keys");
  make_room(width);
  ImGui::SetCursorPosX(
      std::max(ImGui::GetCursorPosX(), ImGui::GetWindowContentRegionMax().x - width));
  ImGui::SetNextItemWidth(search_width);
  std::array<char, 256> text{};
  std::strncpy(text.data(), state.search.c_str(), text.size() - 1);
  if (wants_search_) ImGui::SetKeyboardFocusHere();
  wants_search_ = false;
  const bool is_entered =
      ImGui::InputTextWithHint("##search", "/ rank=3 waiting >10us", text.data(), text.size(),
                               ImGuiInputTextFlags_EnterReturnsTrue);
  // Input that belongs to this frame's key goes to the field; the next key is a command again.
  is_typing_ = ImGui::IsItemActive();
  state.search = text.data();
  if (state.search == "/") state.search.clear();
  if (is_entered) session.press(Command::FindNext);
  ImGui::SameLine();
  if (ImGui::Button("? keys")) session.press(Command::Help);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("all keys: ?");
}

void Frame::welcome(Session& session, bool is_loading, FrameRequests& requests) {
  const bool is_dark = session.state().is_dark;
  if (!session.message.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour_of(Ink::Warn, is_dark));
    ImGui::TextWrapped("%s", session.message.c_str());
    ImGui::PopStyleColor();
  }
  if (is_loading) return;
  ImGui::TextWrapped(
      "Drop a trace (.rtrace), a scenario, or a folder of flight recorder dumps or logs here, "
      "choose it below, or take a "
      "lesson:");
  lesson_buttons(requests);
  ImGui::Separator();
  chooser(requests, is_dark);
}

void Frame::open_dialog(Session& session, FrameRequests& requests, float scale) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({size.x / 2, size.y / 2}, ImGuiCond_Appearing, {0.5F, 0.5F});
  ImGui::SetNextWindowSize(
      {std::min(size.x * 0.9F, 760 * scale), std::min(size.y * 0.9F, 560 * scale)},
      ImGuiCond_Appearing);
  if (ImGui::Begin("Open", &shows_open_,
                   ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings)) {
    if (session.state().view == View::Compare)
      ImGui::TextWrapped("What is opened now is compared with what is shown.");
    ImGui::TextUnformatted("a lesson:");
    lesson_buttons(requests);
    ImGui::Separator();
    chooser(requests, session.state().is_dark);
  }
  ImGui::End();
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)) || !requests.paths.empty() ||
      !requests.lesson.empty()) {
    shows_open_ = false;
  }
}

void Frame::chooser(FrameRequests& requests, bool is_dark) {
  if (chooser_.folder().empty()) chooser_.go(".");
  std::array<char, 4096> text{};
  std::strncpy(text.data(), chooser_.folder().c_str(), text.size() - 1);
  const auto go_up = [&] {
    return chooser_.folder().substr(0, std::max<std::size_t>(chooser_.folder().rfind('/'), 1));
  };
  if (button("up", "to the folder above")) chooser_.go(go_up());
  const std::string what =
      chooser_.marked() == 0
          ? std::string("Open this folder")
          : fmt::format("Open {} {}", chooser_.marked(), chooser_.marked() == 1 ? "file" : "files");
  ImGui::SetNextItemWidth(
      std::max(ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(what.c_str()).x -
                   3 * ImGui::GetStyle().FramePadding.x - ImGui::GetStyle().ItemSpacing.x,
               ImGui::GetFontSize() * 8));
  if (ImGui::InputText("##path", text.data(), text.size(), ImGuiInputTextFlags_EnterReturnsTrue))
    chooser_.go(text.data());
  is_typing_ = is_typing_ || ImGui::IsItemActive();
  ImGui::SameLine();
  if (ImGui::Button(what.c_str())) requests.paths = chooser_.paths();
  if (!chooser_.trouble().empty()) ImGui::TextWrapped("%s", chooser_.trouble().c_str());
  ImGui::BeginChild("files", {0, 0}, true);
  const FolderEntry* clicked = nullptr;
  for (const FolderEntry& entry : chooser_.entries()) {
    const bool is_folder = entry.kind == FolderEntry::Kind::Folder;
    const bool is_known =
        entry.kind == FolderEntry::Kind::Trace || entry.kind == FolderEntry::Kind::Scenario;
    ImGui::PushStyleColor(ImGuiCol_Text, colour_of(is_known    ? Ink::Chosen
                                                   : is_folder ? Ink::Text
                                                               : Ink::Faint,
                                                   is_dark));
    const std::string line =
        is_folder ? entry.name + "/" : fmt::format("{}   {}", entry.name, size_text(entry.bytes));
    if (ImGui::Selectable(line.c_str(), chooser_.is_marked(entry.name),
                          ImGuiSelectableFlags_AllowDoubleClick)) {
      clicked = &entry;
      if (!is_folder && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
        requests.paths = {chooser_.folder() + "/" + entry.name};
    }
    ImGui::PopStyleColor();
  }
  if (clicked != nullptr) chooser_.click(*clicked);
  ImGui::EndChild();
}

void Frame::caption(const Session& session) {
  const std::string_view caption = session.caption();
  if (caption.empty()) return;
  const bool is_dark = session.state().is_dark;
  ImGui::PushStyleColor(ImGuiCol_ChildBg, colour_of(Ink::Chosen, is_dark, 0.22F));
  // The same height for any text, so that nothing jumps; more if the text needs it.
  const ImVec2 padding = ImGui::GetStyle().WindowPadding;
  const float width = ImGui::GetContentRegionAvail().x - 2 * padding.x;
  const float said =
      ImGui::CalcTextSize(caption.data(), caption.data() + caption.size(), false, width).y;
  const float height = std::max(said, ImGui::GetTextLineHeight() * 2) + padding.y * 2;
  ImGui::BeginChild("caption", {0, height}, true, ImGuiWindowFlags_NoScrollbar);
  ImGui::TextWrapped("%.*s", static_cast<int>(caption.size()), caption.data());
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

void Frame::lesson_row(const LessonBar& lesson, FrameRequests& requests) {
  ImGui::AlignTextToFramePadding();
  ImGui::Text("lesson %s", lesson.name.c_str());
  if (lesson.numbers.ranks == 0) return;  // a scenario has its own
  for (const LessonChoice& choice : lesson_choices()) {
    ImGui::SameLine();
    ImGui::TextUnformatted(choice.name.data(), choice.name.data() + choice.name.size());
    ImGui::SameLine();
    const std::string now = choice.text_of(lesson.numbers);
    ImGui::SetNextItemWidth(ImGui::GetFontSize() * 6);
    if (!ImGui::BeginCombo(fmt::format("##{}", choice.name).c_str(), now.c_str())) continue;
    for (const LessonNumbers& numbers : choice.all_of(lesson.numbers)) {
      const std::string text = choice.text_of(numbers);
      if (ImGui::Selectable(text.c_str(), text == now)) requests.again = {lesson.name, numbers};
    }
    ImGui::EndCombo();
  }
}

void Frame::tabs(Session& session) {
  State& state = session.state();
  const bool is_dark = state.is_dark;
  for (int i = 0; i < kViews; ++i) {
    const auto view = static_cast<View>(i);
    const bool is_shown = state.view == view;
    if (is_shown) ImGui::PushStyleColor(ImGuiCol_Button, colour_of(Ink::Chosen, is_dark, 0.55F));
    const std::string text = fmt::format("{} {}", i + 1, to_string(view));
    make_room(button_width(text.c_str()));
    if (ImGui::Button(text.c_str())) state.view = view;
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", tip_of(view));
    if (is_shown) ImGui::PopStyleColor();
    ImGui::SameLine();
  }
  legend(session);
}

void Frame::legend(const Session& session) {
  const bool is_dark = session.state().is_dark;
  const std::vector<LegendEntry> samples = legend_of(*session.document(), session.state().view);
  float width = 0;
  const float side = ImGui::GetFontSize() * 0.8F;
  for (const LegendEntry& sample : samples)
    width += ImGui::CalcTextSize(sample.text.c_str()).x + side * 2;
  const float right = ImGui::GetWindowContentRegionMax().x;
  // In a row of its own if there is no room next to the tabs.
  if (ImGui::GetCursorPosX() + width > right) ImGui::NewLine();
  ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), right - width));
  Picture picture;
  ImVec2 origin = ImGui::GetCursorScreenPos();
  origin.y += ImGui::GetStyle().FramePadding.y;
  float x = 0;
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  const bool is_at_line = pointer.y >= origin.y && pointer.y < origin.y + side * 1.3F;
  for (const LegendEntry& sample : samples) {
    picture.boxes.push_back({x, 1, x + side, 1 + side, sample.ink, sample.fill});
    picture.words.push_back({.x = x + side * 1.3F, .ink = Ink::Faint, .text = sample.text});
    const float next = x + ImGui::CalcTextSize(sample.text.c_str()).x + side * 2;
    if (is_at_line && pointer.x >= origin.x + x && pointer.x < origin.x + next)
      ImGui::SetTooltip("%s", sample.meaning.c_str());
    x = next;
  }
  draw_picture(*ImGui::GetWindowDrawList(), picture, origin, is_dark);
  ImGui::NewLine();
}

void Frame::view(Session& session) {
  State& state = session.state();
  ImVec2 size = ImGui::GetContentRegionAvail();
  size.y -=
      ImGui::GetFrameHeightWithSpacing() + ImGui::GetFontSize() + ImGui::GetStyle().ItemSpacing.y;
  ImGui::BeginChild("view", size, false,
                    state.view == View::Timeline
                        ? ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse
                        : 0);
  // Lines first: the picture gets the rest of the height.
  ImVec2 left = ImGui::GetContentRegionAvail();
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float above = state.view == View::Timeline ? 0 : 2 * line;
  const Panel& panel = session.prepare(canvas_of({left.x, std::max(left.y - above, line)}));
  for (const std::string& text : panel.lines) ImGui::TextWrapped("%s", text.c_str());
  if (state.view <= View::Slots || panel.picture.height > 0) {
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    left = ImGui::GetContentRegionAvail();
    if (panel.picture.height > 0) left.y = panel.picture.height;
    ImGui::InvisibleButton("picture", {std::max(left.x, 1.0F), std::max(left.y, 1.0F)},
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                               ImGuiButtonFlags_MouseButtonMiddle);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(origin, {origin.x + left.x, origin.y + left.y}, true);
    draw_picture(list, panel.picture, origin, state.is_dark);
    list.PopClipRect();
    pointer(session, panel, origin, left);
  }
  Target clicked;
  for (std::size_t i = 0; i < panel.tables.size(); ++i) {
    const Target target = draw_table(panel.tables[i], static_cast<int>(i), state.is_dark);
    if (target.kind != Target::Kind::None) clicked = target;
  }
  ImGui::EndChild();
  if (clicked.kind != Target::Kind::None) session.click(clicked, state.now_ns);
}

void Frame::pointer(Session& session, const Panel& panel, ImVec2 origin, ImVec2 size) {
  if (!ImGui::IsItemHovered()) return;
  State& state = session.state();
  const Document& document = *session.document();
  const ImGuiIO& io = ImGui::GetIO();
  const float x = io.MousePos.x - origin.x;
  const float y = io.MousePos.y - origin.y;
  const Target target = target_at(panel.picture, x, y);
  const TimeAxis& axis = session.timeline().axis();
  const bool has_time = state.view == View::Timeline && x >= axis.left && x < size.x;
  const std::int64_t time = has_time ? axis.time_at(x) : state.now_ns;
  if (has_time && io.MouseWheel != 0 && !io.KeyShift)
    zoom(state, document, io.MouseWheel > 0 ? 0.8 : 1.25, time);
  if (io.MouseWheel != 0 && (io.KeyShift || (state.view == View::Timeline && !has_time))) {
    state.scroll = std::clamp(state.scroll - io.MouseWheel * 3 * ImGui::GetTextLineHeight(), 0.0F,
                              session.timeline().most_scroll());
  }
  if (has_time && (ImGui::IsMouseDragging(ImGuiMouseButton_Middle) ||
                   ImGui::IsMouseDragging(ImGuiMouseButton_Left))) {
    pan(state, document,
        -static_cast<double>(io.MouseDelta.x) /
            static_cast<double>(std::max(axis.right - axis.left, 1.0F)));
    state.scroll =
        std::clamp(state.scroll - io.MouseDelta.y, 0.0F, session.timeline().most_scroll());
  }
  if (has_time && ImGui::IsMouseDragging(ImGuiMouseButton_Right)) {
    const std::int64_t from = axis.time_at(io.MouseClickedPos[ImGuiMouseButton_Right].x - origin.x);
    state.ruler = TimeRange{std::min(from, time), std::max({from, time, std::min(from, time) + 1})};
  }
  const ImVec2 moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && moved.x * moved.x + moved.y * moved.y < 16) {
    session.click(target, time);
    return;
  }
  const std::vector<std::string> tip = session.tip(target);
  if (tip.empty()) return;
  ImGui::BeginTooltip();
  for (const std::string& text : tip) ImGui::TextUnformatted(text.c_str());
  ImGui::EndTooltip();
}

/// Draws the bar of the whole time below the view, with the current position and its marks, and moves the position.
void Frame::scrubber(Session& session) {
  State& state = session.state();
  const Document& document = *session.document();
  const TimeRange whole = document.whole();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(ImGui::GetContentRegionAvail().x, 1.0F), ImGui::GetFontSize()};
  ImGui::InvisibleButton("time", size);
  const auto length = static_cast<double>(whole.end_ns - whole.begin_ns);
  if (ImGui::IsItemActive()) {
    const double share =
        std::clamp(static_cast<double>((ImGui::GetIO().MousePos.x - origin.x) / size.x), 0.0, 1.0);
    state.now_ns = whole.begin_ns + std::llround(share * length);
    show_time(state, document, state.now_ns);
  }
  if (ImGui::IsItemHovered()) {
    const double share =
        std::clamp(static_cast<double>((ImGui::GetIO().MousePos.x - origin.x) / size.x), 0.0, 1.0);
    ImGui::SetTooltip("%s of %s; dots are captions and bookmarks",
                      format_time(Seconds{share * length * 1e-9}).c_str(),
                      format_time(Seconds{length * 1e-9}).c_str());
  }
  Picture picture;
  const auto x_of = [&](std::int64_t time) {
    return size.x *
           std::clamp(static_cast<float>(static_cast<double>(time - whole.begin_ns) / length), 0.0F,
                      1.0F);
  };
  const float middle = size.y / 2;
  picture.boxes.push_back({0, middle - 2, size.x, middle + 2, Ink::Panel, Fill::Solid});
  if (state.view == View::Timeline) {
    picture.boxes.push_back({x_of(state.visible.begin_ns), middle - 2, x_of(state.visible.end_ns),
                             middle + 2, Ink::Line, Fill::Solid});
  }
  picture.boxes.push_back({0, middle - 2, x_of(state.now_ns), middle + 2, Ink::Now, Fill::Soft});
  for (const Caption& caption : document.captions)
    picture.discs.push_back({x_of(caption.from_ns), middle, size.y * 0.2F, Ink::Chosen});
  for (const std::int64_t bookmark : state.bookmarks)
    picture.discs.push_back({x_of(bookmark), middle, size.y * 0.25F, Ink::Good});
  picture.discs.push_back({x_of(state.now_ns), middle, size.y * 0.4F, Ink::Now});
  draw_picture(*ImGui::GetWindowDrawList(), picture, origin, state.is_dark);
}

void Frame::status(Session& session) {
  const Document& document = *session.document();
  const State& state = session.state();
  if (!session.message.empty()) {
    ImGui::TextUnformatted(session.message.c_str());
    return;
  }
  std::string text = document.title;
  if (const std::string titles = titles_at(document, state.now_ns); !titles.empty())
    text += "   " + titles;
  if (state.event != kNoEvent) {
    text += fmt::format("   chosen: {}", fmt::join(describe(document, state.event), "; "));
  }
  if (state.loops) text += "   loops";
  ImGui::TextDisabled("%s", text.c_str());
}

void Frame::help(Session& session, float scale) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({size.x / 2, size.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSize(
      {std::min(size.x * 0.9F, 900 * scale), std::min(size.y * 0.9F, 620 * scale)});
  if (ImGui::Begin("Keys", &session.state().shows_help,
                   ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings)) {
    if (ImGui::BeginTable("keys", 4, ImGuiTableFlags_SizingStretchProp)) {
      for (const CommandRow& row : commands()) {
        ImGui::TableNextColumn();
        const std::string_view key = row.key == " " ? "space" : row.key;
        ImGui::TextUnformatted(key.data(), key.data() + key.size());
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(row.what.data(), row.what.data() + row.what.size());
      }
      ImGui::EndTable();
    }
    ImGui::Separator();
    ImGui::TextWrapped(
        "Wheel: zoom at the pointer; with shift, or over the names: rows. Drag: move. Right drag: "
        "ruler. Click: choose, fold.");
  }
  ImGui::End();
}

}  // namespace ringside::gui
