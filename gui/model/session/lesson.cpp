#include "gui/model/session/lesson.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/suggest.h"
#include "base/text.h"
#include "engine/topology/sources/yaml_mapping.h"
#include "gui/model/transfers.h"
#include "gui/model/views/chunk_history.h"

namespace ringside::gui {
namespace {

constexpr std::array<std::string_view, 7> kKeys{"ringside", "name",     "title",   "view",
                                                "sim",      "captions", "scenario"};
constexpr std::array<std::string_view, 8> kSimKeys{
    "collective", "bytes", "on", "nodes", "ranks", "algorithm", "protocol", "channels"};
constexpr std::array<std::string_view, 2> kCaptionKeys{"at", "text"};
constexpr int kGpusOfHost = 8;

std::vector<LessonNumbers> all_ranks(const LessonNumbers& numbers) {
  std::vector<LessonNumbers> all;
  for (const int ranks : {2, 4, 8, 16, 32, 64})
    all.push_back({.ranks = ranks, .bytes = numbers.bytes, .finer = numbers.finer});
  return all;
}

std::vector<LessonNumbers> all_sizes(const LessonNumbers& numbers) {
  std::vector<LessonNumbers> all;
  for (const char* const bytes : {"8K", "64K", "256K", "1M", "4M", "8M", "16M", "32M", "64M"})
    all.push_back({.ranks = numbers.ranks, .bytes = bytes, .finer = numbers.finer});
  return all;
}

std::vector<LessonNumbers> all_chunks(const LessonNumbers& numbers) {
  std::vector<LessonNumbers> all;
  for (const int finer : {64, 16, 4, 1})
    all.push_back({.ranks = numbers.ranks, .bytes = numbers.bytes, .finer = finer});
  return all;
}

constexpr std::array<LessonChoice, 3> kChoices{
    {{"ranks", [](const LessonNumbers& numbers) { return fmt::format("{}", numbers.ranks); },
      all_ranks},
     {"size", [](const LessonNumbers& numbers) { return numbers.bytes; }, all_sizes},
     {"chunks",
      [](const LessonNumbers& numbers) {
        return numbers.finer == 1 ? std::string("NCCL's") : fmt::format("1/{}", numbers.finer);
      },
      all_chunks}}};

Result<study::SimQuestion> read_question(const YamlMapping& sim) {
  study::SimQuestion question;
  RINGSIDE_TRY(question.calls.collective, sim.word("collective", "all_reduce"));
  RINGSIDE_TRY(question.calls.sizes, sim.word("bytes", "1M"));
  RINGSIDE_TRY(question.job.on, sim.word("on", "dgx-h100"));
  question.job.nodes = 1;
  if (sim.has("nodes")) {
    RINGSIDE_TRY(question.job.nodes, sim.whole("nodes", 1, 64, "1"));
  }
  if (sim.has("ranks")) {
    RINGSIDE_TRY(const int ranks, sim.whole("ranks", 2, 512, "8"));
    RINGSIDE_TRY(set_ranks(question, ranks));
  }
  if (sim.has("algorithm")) {
    RINGSIDE_TRY(question.algorithm, sim.word("algorithm", "ring"));
  }
  if (sim.has("protocol")) {
    RINGSIDE_TRY(question.protocol, sim.word("protocol", "simple"));
  }
  if (sim.has("channels")) {
    RINGSIDE_TRY(question.channels, sim.whole("channels", 1, 64, "1"));
  }
  return question;
}

std::optional<std::int64_t> share_in(std::string_view at) {
  if (!at.ends_with('%')) return std::nullopt;
  const auto share = parse_int(at.substr(0, at.size() - 1));
  return share ? std::optional(std::clamp<std::int64_t>(*share, 0, 100)) : std::nullopt;
}

std::optional<std::int64_t> share_of_rounds_in(std::string_view at) {
  constexpr std::string_view kRounds = "rounds ";
  return at.starts_with(kRounds) ? share_in(at.substr(kRounds.size())) : std::nullopt;
}

constexpr std::string_view kFirstResult = "first result";
constexpr std::array<std::string_view, 4> kCounts{"ranks", "chunks", "rounds", "carried"};

/// Returns the first word in braces that is unknown to kCounts; empty: there is none.
std::string unknown_count(std::string_view text) {
  for (std::size_t open = text.find('{'); open != std::string_view::npos;
       open = text.find('{', open + 1)) {
    const std::string_view word = text.substr(open + 1, text.find('}', open) - open - 1);
    if (std::ranges::find(kCounts, word) == kCounts.end()) return std::string(word);
  }
  return {};
}

/// The values of the words in braces, in the run.
class RunCounts {
 public:
  RunCounts(const Document& document, const CallFacts& call) : document_(document), call_(call) {}

  std::string filled_in(std::string text) {
    for (const std::string_view word : kCounts) {
      const std::string braced = fmt::format("{{{}}}", word);
      for (std::size_t at = 0; (at = text.find(braced, at)) != std::string::npos;) {
        const std::string count = count_of(word);
        text.replace(at, braced.size(), count);
        at += count.size();
      }
    }
    return text;
  }

  /// Half of the call, if the call is too large to be followed.
  std::int64_t first_result_ns() {
    const std::int64_t half = call_.time.begin_ns / 2 + call_.time.end_ns / 2;
    const auto& known = history();
    return known ? known->first_whole_ns().value_or(half) : half;
  }

 private:
  const Result<ChunkHistory>& history() {
    if (!history_) history_ = ChunkHistory::make(document_, call_);
    return *history_;
  }

  std::string count_of(std::string_view word) {
    if (word == "ranks") return fmt::format("{}", call_.ranks);
    if (word == "carried") {
      const auto bytes = static_cast<double>(most_bytes_of_a_link(transfers_of(document_, call_)));
      const auto buffer = static_cast<double>(std::max<std::uint64_t>(call_.bytes.value, 1));
      return fmt::format("{:.2f}", bytes / buffer);
    }
    const auto& known = history();
    if (!known) return "many";  // more than are followed
    return word == "rounds" ? fmt::format("{}", known->rounds())
                            : fmt::format("{}", known->chunks().size());
  }

  const Document& document_;
  const CallFacts& call_;
  std::optional<Result<ChunkHistory>> history_;
};

Result<std::vector<Lesson::Said>> read_captions(const YamlMapping& root) {
  std::vector<Lesson::Said> all;
  RINGSIDE_TRY(const YAML::Node list, root.find("captions", "[{at: 0%, text: ...}]"));
  for (const YAML::Node& entry : list) {
    const YamlMapping one(entry, root.where());
    RINGSIDE_TRY(one.check(kCaptionKeys));
    Lesson::Said said;
    RINGSIDE_TRY(said.at, one.word("at", "25%"));
    RINGSIDE_TRY(said.text, one.word("text", "what is seen"));
    const bool is_share =
        share_in(said.at) || share_of_rounds_in(said.at) || said.at == kFirstResult;
    const bool is_round =
        said.at.starts_with("round ") && parse_int(std::string_view(said.at).substr(6));
    if (!is_share && !is_round) {
      return one.bad(entry["at"], fmt::format("at: '{}' is no moment", said.at),
                     "such as 25% (of the call), round 3, rounds 50% or first result");
    }
    if (const std::string word = unknown_count(said.text); !word.empty()) {
      return one.bad(entry["text"], fmt::format("text: '{{{}}}' is not counted", word),
                     fmt::format("known: {}", fmt::join(kCounts, ", ")));
    }
    all.push_back(std::move(said));
  }
  return all;
}

Result<Lesson> read_lesson(const std::string& text, const std::string& where) {
  const YamlMapping root(YAML::Load(text), where);
  RINGSIDE_TRY(check_yaml_document(root, "lesson/1", "a lesson", kKeys));
  Lesson lesson;
  RINGSIDE_TRY(lesson.name, root.word("name", "ring"));
  RINGSIDE_TRY(lesson.title, root.word("title", "what a ring does"));
  RINGSIDE_TRY(const std::string view, root.word("view", "chunks"));
  auto known = parse_view(view);
  if (!known) {
    return root.bad(root.node()["view"], known.error().message, known.error().help);
  }
  lesson.view = *known;
  if (root.has("scenario")) {
    RINGSIDE_TRY(lesson.scenario, root.word("scenario", "|, and below it a scenario/1"));
  } else {
    RINGSIDE_TRY(const YamlMapping sim,
                 root.child("sim", "{collective: all_reduce, ...}", kSimKeys));
    RINGSIDE_TRY(lesson.question, read_question(sim));
  }
  RINGSIDE_TRY(lesson.captions, read_captions(root));
  return lesson;
}

}  // namespace

Result<Lesson> parse_lesson(const std::string& text, const std::string& where) {
  try {
    return read_lesson(text, where);
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

Result<Lesson> find_lesson(std::string_view name) {
  std::vector<std::string_view> names;
  for (const EmbeddedLesson& lesson : kLessons) {
    if (lesson.name == name)
      return parse_lesson(std::string(lesson.text), fmt::format("{}.yaml", name));
    names.push_back(lesson.name);
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown lesson '{}'", name),
               suggestion(name, names)};
}

Status set_ranks(study::SimQuestion& question, int ranks) {
  question.job.hosts.gpus.clear();
  if (ranks >= 2 && ranks < kGpusOfHost) {
    question.job.nodes = 1;
    question.job.hosts.gpus.resize(static_cast<std::size_t>(ranks));
    std::iota(question.job.hosts.gpus.begin(), question.job.hosts.gpus.end(), 0);
    return {};
  }
  if (ranks < kGpusOfHost || ranks % kGpusOfHost != 0) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} ranks", ranks),
                 "give 2 to 8, or a multiple of 8"};
  }
  question.job.nodes = ranks / kGpusOfHost;
  return {};
}

void set_finer(study::SimQuestion& question, int finer) {
  question.job.set.clear();
  if (finer <= 1) return;
  // source  NCCL 2.30: NCCL_BUFFSIZE 4 MiB, NCCL_LL_BUFFSIZE 512 KiB, NCCL_LL128_BUFFSIZE 4915200 bytes,
  //         NCCL_NVLS_CHUNKSIZE 128 KiB
  constexpr int kLine = 16384;  // LL128's buffer: 8 steps of one warp's 16 lines
  const auto set = [&](const char* name, int bytes) {
    question.job.set.push_back(fmt::format("{}={}", name, bytes));
  };
  set("NCCL_BUFFSIZE", (4 << 20) / finer);
  set("NCCL_LL_BUFFSIZE", (512 << 10) / finer);
  set("NCCL_LL128_BUFFSIZE", 4'915'200 / finer / kLine * kLine);
  set("NCCL_NVLS_CHUNKSIZE", (128 << 10) / finer);
}

Status set_numbers(Lesson& lesson, const LessonNumbers& numbers) {
  if (numbers.ranks > 0) RINGSIDE_TRY(set_ranks(lesson.question, numbers.ranks));
  if (!numbers.bytes.empty()) lesson.question.calls.sizes = numbers.bytes;
  set_finer(lesson.question, numbers.finer);
  return {};
}

LessonNumbers numbers_of(const Lesson& lesson) {
  if (!lesson.scenario.empty()) return {};
  const auto& gpus = lesson.question.job.hosts.gpus;
  const int ranks = gpus.empty() ? kGpusOfHost * lesson.question.job.nodes.value_or(1)
                                 : static_cast<int>(gpus.size());
  return {.ranks = ranks, .bytes = lesson.question.calls.sizes};
}

std::span<const LessonChoice> lesson_choices() { return kChoices; }

LessonNumbers next_of(const LessonChoice& choice, const LessonNumbers& numbers, bool is_more) {
  const std::vector<LessonNumbers> all = choice.all_of(numbers);
  const std::string now = choice.text_of(numbers);
  const auto found = std::ranges::find_if(
      all, [&](const LessonNumbers& one) { return choice.text_of(one) == now; });
  if (found == all.end()) return all[all.size() / 2];
  if (found == (is_more ? all.end() - 1 : all.begin())) return numbers;
  return *(is_more ? found + 1 : found - 1);
}

std::vector<Caption> captions_of(const Lesson& lesson, const Document& document) {
  std::vector<Caption> all;
  if (document.calls.empty()) return all;
  const CallFacts& call = document.calls.front();
  // For a scenario the shares are of the whole scenario.
  const TimeRange span = lesson.scenario.empty() ? call.time : document.whole();
  const std::vector<std::int64_t> rounds = round_ends(*document.replay, call);
  RunCounts counts(document, call);
  for (const Lesson::Said& said : lesson.captions) {
    std::int64_t at = span.begin_ns;
    if (const auto share = share_in(said.at)) {
      at += share_of(span.end_ns - at, *share);
    } else if (said.at == kFirstResult) {
      at = counts.first_result_ns();
    } else if (const auto part = share_of_rounds_in(said.at); part && !rounds.empty()) {
      at = rounds[static_cast<std::size_t>(share_of(std::ssize(rounds) - 1, *part))];
    } else if (const auto round = parse_int(std::string_view(said.at).substr(6));
               round && !rounds.empty()) {
      at = rounds[static_cast<std::size_t>(std::clamp<std::int64_t>(*round, 1, std::ssize(rounds)) -
                                           1)];
    }
    all.push_back({at, counts.filled_in(said.text)});
  }
  std::ranges::stable_sort(all, {}, &Caption::from_ns);
  return all;
}

}  // namespace ringside::gui
