#include <nlohmann/json.hpp>
#include <utility>

#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/report/hang_report.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {
namespace {

Json stack_json(const Stack& stack) {
  Json frames = Json::array();
  for (const Frame& frame : stack) {
    frames.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  }
  return frames;
}

Json evidence_json(const std::vector<Evidence>& evidence) {
  Json all = Json::array();
  for (const Evidence& one : evidence) {
    Json entry = {{"file", one.file}, {"text", one.text}};
    if (one.record >= 0) entry["record"] = one.record;
    if (one.line > 0) entry["line"] = one.line;
    all.push_back(std::move(entry));
  }
  return all;
}

Json explanation_json(const Explanation& one, const Examination& all) {
  Json out = {{"kind", to_string(one.kind)},
              {"culprits", one.culprits},
              {"first_divergence", nullptr},
              {"confidence", one.confidence},
              {"why", why_of(one)},
              {"reference", reference_of(one.kind)},
              {"next_step", nullptr},
              {"missing", missing_of(one, all.job.get())},
              {"details", details_of(one)},
              {"stack", stack_json(one.stack)},
              {"evidence", evidence_json(one.evidence)}};
  if (!one.call.empty()) out["first_divergence"] = one.call;
  if (const std::string next = next_of(one, *all.job, all.facts); !next.empty())
    out["next_step"] = next;
  for (const Feature feature : one.features)
    out["features"].push_back({{"name", to_string(feature)}, {"weight", weight_of(feature)}});
  return out;
}

Json groups_json(const Examination& all) {
  Json groups = Json::array();
  for (std::size_t i = 0; i < all.job->groups().size(); ++i) {
    const Group& group = all.job->groups()[i];
    Json fronts = Json::array();
    for (const Front& front : all.wait_state.fronts) {
      if (front.group != static_cast<int>(i)) continue;
      fronts.push_back({{"sequence", front.sequence},
                        {"waiting", front.waiting},
                        {"entered", front.entered},
                        {"absent", front.absent},
                        {"without_dump", front.unseen}});
    }
    groups.push_back({{"name", group.name},
                      {"description", group.description},
                      {"ranks", group.members},
                      {"fronts", std::move(fronts)}});
  }
  return groups;
}

}  // namespace

Json report_json(const Examination& all) {
  Json others = Json::array();
  for (const Explanation& other : all.verdict.others) {
    others.push_back(explanation_json(other, all));
    others.back()["against"] = against_of(all.verdict.best, other);
  }
  Json rows = Json::array();
  for (const PlaceRow& row : place_rows(all)) {
    rows.push_back(
        {{"ranks", row.ranks}, {"call", row.call}, {"state", row.state}, {"waits_for", row.waits}});
  }
  Json unread = Json::array();
  for (const BadFile& bad : all.bad) {
    unread.push_back({{"file", bad.path}, {"error", bad.error.message}});
  }
  return {{"schema", "ringside.hang/1"},
          {"verdict", explanation_json(all.verdict.best, all)},
          {"others", std::move(others)},
          {"groups", groups_json(all)},
          {"ranks", std::move(rows)},
          {"nranks", all.job->world()},
          {"ndumps", dumps_read(all)},
          {"log_lines", all.facts.lines},
          {"unread", std::move(unread)},
          {"log_lines_unread", all.facts.unread},
          {"nranks_known", is_world_known(*all.job, all.facts)}};
}

}  // namespace ringside::hang
