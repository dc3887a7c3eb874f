#include "gui/draw/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "gui/draw/draw_picture.h"
#include "gui/draw/draw_table.h"
#include "gui/draw/palette.h"
#include "gui/model/lesson.h"

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

bool button(const char* text, const char* tip) {
  const bool is_pressed = ImGui::Button(text);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", tip);
  ImGui::SameLine();
  return is_pressed;
}

std::string speed_text(double speed) {
  return fmt::format("{} a second", format_time(Seconds{speed * 1e-9}));
}

Canvas canvas_of(ImVec2 size) {
  return {size.x, size.y, ImGui::GetTextLineHeight(), ImGui::CalcTextSize("nnnnnnnnnn").x / 10};
}

}  // namespace

FrameWishes Frame::draw(Session& session, const std::string& loading, double loaded,
                        const std::optional<LessonBar>& lesson, float scale) {
  FrameWishes wishes;
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
    ImGui::TextWrapped(
        "%s",
        session.message.empty() && loading.empty()
            ? "Drop a trace (.rtrace), a scenario or a folder of dumps here, or take a lesson:"
            : session.message.c_str());
    lessons(session, lesson, wishes);
  } else {
    wishes.closes = keys(session);
    bar(session);
    lessons(session, lesson, wishes);
    tabs(session);
    view(session);
    status(session);
  }
  ImGui::End();
  if (session.state().shows_help) help(session, scale);
  return wishes;
}

bool Frame::keys(Session& session) {
  const ImGuiIO& io = ImGui::GetIO();
  if (is_typing_) return false;
  bool closes = false;
  const auto press = [&](std::string_view key) {
    for (const CommandRow& row : commands()) {
      if (row.key != key) continue;
      if (row.command == Command::Search) wants_search_ = true;
      if (row.command == Command::Close) closes = true;
      session.press(row.command);
    }
  };
  for (const ImWchar letter : io.InputQueueCharacters) {
    if (letter > 0 && letter < 128) press(std::string(1, static_cast<char>(letter)));
  }
  for (const NamedKey& named : kNamedKeys) {
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(named.key))) press(named.name);
  }
  return closes;
}

void Frame::bar(Session& session) {
  State& state = session.state();
  const Document& document = *session.document();
  if (button(state.is_playing ? "Stop" : "Play", "space")) session.press(Command::Play);
  if (button("|<", "to the beginning: Home")) session.press(Command::ToBegin);
  if (button("< round", "R")) session.press(Command::LastRound);
  if (button("<", "a primitive back: ,")) session.press(Command::LastPrimitive);
  if (button(">", "to the next end of a primitive: .")) session.press(Command::NextPrimitive);
  if (button("round >", "r")) session.press(Command::NextRound);
  if (button("call >", "n")) session.press(Command::NextCall);
  if (button("-##slower", "half as fast: <")) session.press(Command::Slower);
  ImGui::Text("%s", speed_text(state.speed).c_str());
  ImGui::SameLine();
  if (button("+##faster", "twice as fast: >")) session.press(Command::Faster);
  const std::int64_t origin = document.whole().begin_ns;
  ImGui::Text(
      "at %s",
      exact_time(state.now_ns - origin, std::max<std::int64_t>(state.now_ns - origin, 1)).c_str());
  ImGui::SameLine();
  const float search_width = ImGui::GetFontSize() * 14;
  const float right = ImGui::GetWindowContentRegionMax().x;
  ImGui::SameLine(
      std::max(ImGui::GetCursorPosX(), right - search_width - ImGui::GetFontSize() * 4.5F));
  ImGui::SetNextItemWidth(search_width);
  std::array<char, 256> text{};
  std::strncpy(text.data(), state.search.c_str(), text.size() - 1);
  if (wants_search_) ImGui::SetKeyboardFocusHere();
  wants_search_ = false;
  const bool is_entered =
      ImGui::InputTextWithHint("##search", "/ rank=3 waiting >10us", text.data(), text.size(),
                               ImGuiInputTextFlags_EnterReturnsTrue);
  // What belongs to this frame's key goes to the field; the next one is a command again.
  is_typing_ = ImGui::IsItemActive();
  state.search = text.data();
  if (state.search == "/") state.search.clear();
  if (is_entered) session.press(Command::FindNext);
  ImGui::SameLine();
  if (ImGui::Button("? keys")) session.press(Command::Help);
}

void Frame::lessons(Session& session, const std::optional<LessonBar>& lesson, FrameWishes& wishes) {
  if (session.document() == nullptr) {
    for (const EmbeddedLesson& one : kLessons) {
      if (ImGui::Button(std::string(one.name).c_str())) wishes.lesson = one.name;
      ImGui::SameLine();
    }
    ImGui::NewLine();
    return;
  }
  const std::string_view caption = session.caption();
  if (!caption.empty()) {
    const bool is_dark = session.state().is_dark;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, colour_of(Ink::Chosen, is_dark, 0.22F));
    const float height = ImGui::GetTextLineHeight() * 2 + ImGui::GetStyle().WindowPadding.y * 2;
    ImGui::BeginChild("caption", {0, height}, true, ImGuiWindowFlags_NoScrollbar);
    ImGui::TextWrapped("%.*s", static_cast<int>(caption.size()), caption.data());
    ImGui::EndChild();
    ImGui::PopStyleColor();
  }
  if (!lesson) return;
  ImGui::Text("lesson %s:", lesson->name.c_str());
  ImGui::SameLine();
  if (lesson->ranks == 0) return ImGui::NewLine();
  for (const int ranks : {4, 8, 16, 32}) {
    const std::string text = fmt::format("{}{} ranks", lesson->ranks == ranks ? "* " : "", ranks);
    if (ImGui::SmallButton(text.c_str()))
      wishes.again = LessonBar{lesson->name, ranks, lesson->bytes};
    ImGui::SameLine();
  }
  for (const char* const bytes : {"64K", "1M", "16M", "128M"}) {
    const std::string text = fmt::format("{}{}", lesson->bytes == bytes ? "* " : "", bytes);
    if (ImGui::SmallButton(text.c_str()))
      wishes.again = LessonBar{lesson->name, lesson->ranks, bytes};
    ImGui::SameLine();
  }
  ImGui::NewLine();
}

void Frame::tabs(Session& session) {
  State& state = session.state();
  const bool is_dark = state.is_dark;
  for (int i = 0; i < kViews; ++i) {
    const auto view = static_cast<View>(i);
    const bool is_shown = state.view == view;
    if (is_shown) ImGui::PushStyleColor(ImGuiCol_Button, colour_of(Ink::Chosen, is_dark, 0.55F));
    if (ImGui::Button(fmt::format("{} {}", i + 1, to_string(view)).c_str())) state.view = view;
    if (is_shown) ImGui::PopStyleColor();
    ImGui::SameLine();
  }
  legend(is_dark);
}

void Frame::legend(bool is_dark) {
  struct Sample {
    Ink ink;
    const char* text;
  };
  constexpr std::array<Sample, 7> kSamples{{{Ink::Send, "send"},
                                            {Ink::Receive, "receive"},
                                            {Ink::PassOn, "pass on"},
                                            {Ink::Reduce, "reduce"},
                                            {Ink::Copy, "copy"},
                                            {Ink::Call, "call"},
                                            {Ink::Waiting, "waiting"}}};
  float width = 0;
  const float side = ImGui::GetFontSize() * 0.8F;
  for (const Sample& sample : kSamples) width += ImGui::CalcTextSize(sample.text).x + side * 2;
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), ImGui::GetWindowContentRegionMax().x - width));
  Picture picture;
  ImVec2 origin = ImGui::GetCursorScreenPos();
  origin.y += ImGui::GetStyle().FramePadding.y;
  float x = 0;
  for (const Sample& sample : kSamples) {
    picture.boxes.push_back({x, 1, x + side, 1 + side, sample.ink,
                             sample.ink == Ink::Waiting ? Fill::Hatched : Fill::Solid});
    picture.words.push_back({.x = x + side * 1.3F, .ink = Ink::Faint, .text = sample.text});
    x += ImGui::CalcTextSize(sample.text).x + side * 2;
  }
  draw_picture(*ImGui::GetWindowDrawList(), picture, origin, is_dark);
  ImGui::NewLine();
}

void Frame::view(Session& session) {
  State& state = session.state();
  ImVec2 size = ImGui::GetContentRegionAvail();
  size.y -= ImGui::GetFrameHeightWithSpacing();
  ImGui::BeginChild("view", size, false,
                    state.view == View::Timeline
                        ? ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse
                        : 0);
  // Lines first: what is left of the height is the picture's.
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

void Frame::status(Session& session) {
  const Document& document = *session.document();
  const State& state = session.state();
  if (!session.message.empty()) {
    ImGui::TextUnformatted(session.message.c_str());
    return;
  }
  std::string text = document.title;
  if (const CallFacts* const call = document.call_at(state.now_ns)) text += "   " + title_of(*call);
  if (state.event != kNoEvent) {
    text += "   chosen: ";
    for (const std::string& line : describe(document, state.event)) text += line + "; ";
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
