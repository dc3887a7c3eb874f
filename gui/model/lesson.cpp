#include "gui/model/lesson.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/suggest.h"
#include "base/text.h"
#include "engine/topology/yaml_mapping.h"

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

Result<std::vector<Lesson::Said>> read_captions(const YamlMapping& root) {
  std::vector<Lesson::Said> all;
  RINGSIDE_TRY(const YAML::Node list, root.find("captions", "[{at: 0%, text: ...}]"));
  for (const YAML::Node& entry : list) {
    const YamlMapping one(entry, root.where());
    RINGSIDE_TRY(one.check(kCaptionKeys));
    Lesson::Said said;
    RINGSIDE_TRY(said.at, one.word("at", "25%"));
    RINGSIDE_TRY(said.text, one.word("text", "what is seen"));
    const bool is_share = said.at.ends_with('%') &&
                          parse_int(std::string_view(said.at).substr(0, said.at.size() - 1));
    const bool is_round =
        said.at.starts_with("round ") && parse_int(std::string_view(said.at).substr(6));
    if (!is_share && !is_round) {
      return one.bad(entry["at"], fmt::format("at: '{}' is no moment", said.at),
                     "such as 25% (of the call) or round 3");
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
  // source  NCCL 2.30: NCCL_BUFFSIZE 4 MiB, NCCL_LL_BUFFSIZE 512 KiB, NCCL_LL128_BUFFSIZE 4915200 bytes, NCCL_NVLS_CHUNKSIZE
  // 128 KiB
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
  // Of a scenario the shares are those of the whole of it.
  const TimeRange span = lesson.scenario.empty() ? call.time : document.whole();
  const std::vector<std::int64_t> rounds = round_ends(*document.replay, call);
  for (const Lesson::Said& said : lesson.captions) {
    std::int64_t at = span.begin_ns;
    if (said.at.ends_with('%')) {
      const auto share = parse_int(std::string_view(said.at).substr(0, said.at.size() - 1));
      at += (span.end_ns - at) / 100 * std::clamp<std::int64_t>(share ? *share : 0, 0, 100);
    } else if (const auto round = parse_int(std::string_view(said.at).substr(6));
               round && !rounds.empty()) {
      at = rounds[static_cast<std::size_t>(std::clamp<std::int64_t>(*round, 1, std::ssize(rounds)) -
                                           1)];
    }
    all.push_back({at, said.text});
  }
  std::ranges::stable_sort(all, {}, &Caption::from_ns);
  return all;
}

}  // namespace ringside::gui
