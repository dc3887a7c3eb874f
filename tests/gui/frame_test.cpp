#include "gui/draw/frame.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include "tests/gui/many_documents.h"

namespace ringside::gui {
namespace {

/// Runs ImGui without a window: fonts, frames, and a pointer that the test moves.
class FrameTest : public testing::Test {
 protected:
  FrameTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1200, 800};
    io.DeltaTime = 1.0F / 60;
    // As in the window, lists of more than 65,536 vertices are drawn in parts.
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    io.MousePos = {-1, -1};
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  ~FrameTest() override { ImGui::DestroyContext(); }

  FrameRequests draw() {
    ImGui::NewFrame();
    FrameRequests requests = frame_.draw(session_, {}, 0, lesson_, 1);
    ImGui::Render();
    return requests;
  }
  void type(char letter) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(letter));
    draw();
  }

  Session session_;
  Frame frame_;
  std::optional<LessonBar> lesson_;
};

class AnyDocumentsFrames : public FrameTest, public testing::WithParamInterface<int> {};

TEST_P(AnyDocumentsFrames, EveryViewIsDrawnForSixtyFrames) {
  const auto document = many_documents()[static_cast<std::size_t>(GetParam())].make();
  session_.open(document);
  session_.compare_with(document);
  for (int view = 0; view < kViews; ++view) {
    session_.state().view = static_cast<View>(view);
    session_.state().is_playing = true;
    for (int frame = 0; frame < 60; ++frame) {
      session_.state().is_dark = frame % 2 == 0;
      advance(session_.state(), *session_.document(), 0.1);
      ImGui::GetIO().MousePos = {20.0F * static_cast<float>(frame), 300};
      ImGui::GetIO().MouseWheel = frame % 10 == 0 ? 1.0F : 0.0F;
      draw();
    }
    EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 1000) << to_string(static_cast<View>(view));
  }
}

INSTANTIATE_TEST_SUITE_P(Opened, AnyDocumentsFrames,
                         testing::Range(0, static_cast<int>(many_documents().size())),
                         [](const auto& number) {
                           return many_documents()[static_cast<std::size_t>(number.param)].name;
                         });

TEST_F(FrameTest, AKeyRunsTheCommandOfItsRow) {
  session_.open(late_document());
  draw();
  type('3');
  EXPECT_EQ(session_.state().view, View::Chunks);
  type('.');
  EXPECT_EQ(session_.state().now_ns, 10'000);
  type('?');
  EXPECT_TRUE(session_.state().shows_help);
}

TEST_F(FrameTest, KeysInTheSearchFieldAreNotCommands) {
  session_.open(late_document());
  draw();
  type('/');
  draw();
  draw();
  type('3');
  EXPECT_EQ(session_.state().view, View::Timeline);
  EXPECT_EQ(session_.state().search, "3");
}

TEST_F(FrameTest, AClickOnABoxChoosesIt) {
  session_.open(late_document());
  draw();
  draw();
  // Rank 0's first box: the row of its channel is the second one.
  const Timeline& timeline = session_.timeline();
  const float x = timeline.axis().x_of(5'000);
  const float y = timeline.top() + timeline.row_height() * 1.5F;
  ImVec2 origin{};
  for (float down = 40; down < 200 && session_.state().event == kNoEvent; down += 8) {
    origin = {8, down};
    ImGui::GetIO().MousePos = {origin.x + x, origin.y + y};
    draw();
    ImGui::GetIO().MouseDown[0] = true;
    draw();
    ImGui::GetIO().MouseDown[0] = false;
    draw();
  }
  EXPECT_NE(session_.state().event, kNoEvent);
}

TEST_F(FrameTest, WithoutADocumentLessonsAreOffered) {
  draw();
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 100);
}

}  // namespace
}  // namespace ringside::gui
