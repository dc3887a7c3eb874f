#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gui/model/session/lesson.h"
#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

using testing::HasSubstr;

const std::string kText =
    "ringside: lesson/1\nname: x\ntitle: y\nview: chunks\n"
    "sim: {collective: all_reduce, bytes: 1M, on: dgx-h100, ranks: 4, algorithm: ring}\n"
    "captions:\n- {at: 50%, text: half}\n- {at: round 1, text: first}\n"
    "- {at: rounds 100%, text: 'all {ranks}'}\n";

TEST(LessonText, IsRead) {
  const auto lesson = parse_lesson(kText, "x.yaml");
  ASSERT_TRUE(lesson) << lesson.error().message;
  EXPECT_EQ(lesson->view, View::Chunks);
  EXPECT_EQ(lesson->question.job.hosts.gpus.size(), 4U);
  const auto document = late_document();
  const auto captions = captions_of(*lesson, *document);
  ASSERT_EQ(captions.size(), 3U);
  EXPECT_EQ(captions[0].from_ns, 50'000);
  EXPECT_EQ(captions[0].text, "half");
  EXPECT_EQ(captions[1].from_ns, 50'000) << "step 0 of both ranks has ended";
  EXPECT_EQ(captions[2].from_ns, 100'000) << "step 2 of both ranks has ended";
  EXPECT_EQ(captions[2].text, "all 2");
}

TEST(LessonText, ErrorsNameTheLine) {
  const auto wrong = [](std::string from, const std::string& to) {
    std::string text = kText;
    text.replace(text.find(from), from.size(), to);
    const auto lesson = parse_lesson(text, "x.yaml");
    return lesson ? std::string("read") : lesson.error().message;
  };
  EXPECT_THAT(wrong("at: 50%", "at: noon"), HasSubstr("x.yaml:7: at: 'noon' is no moment"));
  EXPECT_THAT(wrong("at: rounds 100%", "at: rounds all"), HasSubstr("is no moment"));
  EXPECT_THAT(wrong("{ranks}", "{rank}"), HasSubstr("x.yaml:9: text: '{rank}' is not counted"));
  EXPECT_THAT(wrong("view: chunks", "view: chunk"), HasSubstr("x.yaml:4: unknown view 'chunk'"));
  EXPECT_THAT(wrong("title: y", "titel: y"), HasSubstr("unknown key 'titel'"));
  EXPECT_THAT(wrong("ranks: 4", "ranks: 9"), HasSubstr("9 ranks"));
  EXPECT_THAT(wrong("lesson/1", "lesson/2"), HasSubstr("not a version"));
  EXPECT_FALSE(parse_lesson("[", "x.yaml"));
}

TEST(LessonText, AllThatComeWithTheProgramAreRead) {
  EXPECT_EQ(kLessons.size(), 7U);
  for (const EmbeddedLesson& one : kLessons) {
    const auto lesson = find_lesson(one.name);
    ASSERT_TRUE(lesson) << lesson.error().message;
    EXPECT_EQ(lesson->name, one.name);
    EXPECT_GE(lesson->captions.size(), 2U);
  }
  const auto unknown = find_lesson("rings");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().help, HasSubstr("ring"));
}

TEST(LessonText, ItsNumbersMayBeOthers) {
  auto lesson = parse_lesson(kText, "x.yaml");
  ASSERT_TRUE(lesson);
  const LessonNumbers own = numbers_of(*lesson);
  EXPECT_EQ(own.ranks, 4);
  EXPECT_EQ(own.bytes, "1M");
  ASSERT_TRUE(set_numbers(*lesson, {.ranks = 16, .bytes = "64K", .finer = 16}));
  EXPECT_EQ(lesson->question.job.nodes, 2);
  EXPECT_EQ(lesson->question.calls.sizes, "64K");
  EXPECT_THAT(lesson->question.job.set, testing::Contains("NCCL_BUFFSIZE=262144"));
  ASSERT_TRUE(set_numbers(*lesson, own));
  EXPECT_TRUE(lesson->question.job.set.empty());
  EXPECT_FALSE(set_numbers(*lesson, {.ranks = 9}));
}

TEST(LessonText, AKeyGoesToTheNextValueAndNoFurther) {
  const LessonChoice& ranks = lesson_choices()[0];
  EXPECT_EQ(next_of(ranks, {.ranks = 8, .bytes = "1M"}, true).ranks, 16);
  EXPECT_EQ(next_of(ranks, {.ranks = 8, .bytes = "1M"}, false).ranks, 4);
  EXPECT_EQ(next_of(ranks, {.ranks = 64, .bytes = "1M"}, true).ranks, 64);
  EXPECT_EQ(next_of(ranks, {.ranks = 2, .bytes = "1M"}, false).ranks, 2);
  EXPECT_EQ(next_of(lesson_choices()[1], {.ranks = 8, .bytes = "1M"}, true).bytes, "4M");
  EXPECT_EQ(next_of(lesson_choices()[2], {.ranks = 8, .finer = 1}, false).finer, 4);
}

}  // namespace
}  // namespace ringside::gui
