#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/state.h"
#include "study/simulation.h"

namespace ringside::gui {

/// A file of scenarios/lessons, as it comes with the program.
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

/// A simulated run that shows one thing, and texts for its moments: `ringside: lesson/1`.
struct Lesson {
  /// Figures that follow from the run are not part of the text but counted: `{ranks}`, `{chunks}`, `{rounds}`, and
  /// `{carried}`: how many times the buffer the busiest link carried in one direction.
  struct Said {
    /// `25%` of the call; `round 3`, `rounds 50%`: when that round, or half of them, has ended; `first result`: when
    /// a rank has the first finished chunk
    std::string at;
    std::string text;
  };
  std::string name;
  std::string title;
  View view = View::Chunks;
  study::SimQuestion question;  ///< unless it is a scenario
  std::string scenario;         ///< the text of a scenario/1; empty: it is a simulation of one call
  std::vector<Said> captions;
};

/// errors  Corrupt: `where:line: what`, with the fix
Result<Lesson> parse_lesson(const std::string& text, const std::string& where);

/// A lesson that comes with the program.
/// errors  InvalidArgument: no such lesson; the nearest is named
Result<Lesson> find_lesson(std::string_view name);

/// Sets the number of ranks, of one host's GPUs or of hosts of 8: the value of the lesson's slider.
/// errors  InvalidArgument: neither a part of one host nor whole hosts
Status set_ranks(study::SimQuestion& question, int ranks);

/// Chunks of 1 / `finer` of NCCL's size: the buffers of all protocols are smaller by that factor.
/// shape  1, 2, 4, .. 64
void set_finer(study::SimQuestion& question, int finer);

/// The numbers that the user may change while a lesson is shown.
struct LessonNumbers {
  int ranks = 0;           ///< 0: the lesson's own; of one that is a scenario always
  std::string bytes = {};  ///< empty: the lesson's own
  int finer = 1;
};
/// errors  as set_ranks()
Status set_numbers(Lesson& lesson, const LessonNumbers& numbers);
/// The lesson's own numbers.
LessonNumbers numbers_of(const Lesson& lesson);

/// One of those numbers, as a choice of the user.
struct LessonChoice {
  std::string_view name;
  std::string (*text_of)(const LessonNumbers& numbers);
  /// The numbers with each possible value of this one.
  std::vector<LessonNumbers> (*all_of)(const LessonNumbers& numbers);
};
std::span<const LessonChoice> lesson_choices();  ///< ranks, size, chunks
/// The next larger value of a choice, or the next smaller one; unchanged if there is none.
LessonNumbers next_of(const LessonChoice& choice, const LessonNumbers& numbers, bool is_more);

/// The moments of a lesson's texts in a run.
std::vector<Caption> captions_of(const Lesson& lesson, const Document& document);

}  // namespace ringside::gui
