#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/state.h"
#include "study/simulation.h"

namespace ringside::gui {

/// A file of scenarios/lessons, embedded in the program.
struct EmbeddedLesson {
  std::string_view name;
  std::string_view text;
};

}  // namespace ringside::gui

namespace ringside {
using gui::EmbeddedLesson;
/// scenarios/lessons/*.yaml, in alphabetical order; embedded at build time.
extern const std::span<const EmbeddedLesson> kLessons;
}  // namespace ringside

namespace ringside::gui {

/// A simulated run that demonstrates one thing, with texts for its moments: a `ringside: lesson/1`
/// file.
struct Lesson {
  /// A text. Placeholders are replaced by numbers of the run: `{ranks}`, `{chunks}`, `{rounds}`,
  /// and `{carried}`: bytes on the busiest link in one direction, in multiples of the buffer.
  struct Said {
    /// Time: `25%` of the call; `round 3` or `rounds 50%`: the end of that round, or of half of the
    /// rounds; `first result`: when a rank has the first finished chunk.
    std::string at;
    std::string text;
  };
  std::string name;
  std::string title;
  View view = View::Chunks;
  study::SimQuestion question;  ///< used if `scenario` is empty
  std::string scenario;         ///< text of a scenario/1; empty: the lesson simulates one call
  std::vector<Said> captions;
};

/// errors  Corrupt: `where:line: what`, with the fix
Result<Lesson> parse_lesson(const std::string& text, const std::string& where);

/// Returns an embedded lesson.
/// errors  InvalidArgument: no such lesson; the nearest is named
Result<Lesson> find_lesson(std::string_view name);

/// Sets the number of ranks (of one host's GPUs, or hosts of 8), which the lesson's slider shows.
/// errors  InvalidArgument: fewer than two; more than one host, but not whole hosts
Status set_ranks(study::SimQuestion& question, int ranks);

/// Makes chunks smaller by the factor `finer`: the buffers of all protocols shrink by it.
/// shape  1, 2, 4, .. 64
void set_finer(study::SimQuestion& question, int finer);

/// The numbers that the user may change in a lesson.
struct LessonNumbers {
  int ranks = 0;           ///< 0: the lesson's own number; always 0 if the lesson is a scenario
  std::string bytes = {};  ///< empty: the lesson's own size
  int finer = 1;
};
/// errors  as set_ranks()
Status set_numbers(Lesson& lesson, const LessonNumbers& numbers);
/// Returns the lesson's own numbers.
LessonNumbers numbers_of(const Lesson& lesson);

/// One of those numbers, as a control for the user.
struct LessonChoice {
  std::string_view name;
  std::string (*text_of)(const LessonNumbers& numbers);
  /// Returns the numbers with each possible value of this one.
  std::vector<LessonNumbers> (*all_of)(const LessonNumbers& numbers);
};
std::span<const LessonChoice> lesson_choices();  ///< ranks, size, chunks
/// Returns the numbers with the next larger (or smaller) value of a choice; unchanged if there is
/// none. From a value that all_of() lacks it goes to the middle one.
LessonNumbers next_of(const LessonChoice& choice, const LessonNumbers& numbers, bool is_more);

/// Returns the texts of a lesson with their times in a run.
std::vector<Caption> captions_of(const Lesson& lesson, const Document& document);

}  // namespace ringside::gui
