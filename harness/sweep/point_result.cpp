#include "harness/sweep/point_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace ringside {
namespace {

using End = PointResult::End;

constexpr std::array<std::pair<End, const char*>, 4> kEnds{{{End::Finished, "finished"},
                                                            {End::Hang, "hang"},
                                                            {End::Refused, "refused"},
                                                            {End::Failed, "failed"}}};

Error not_a_result(const std::string& why) {
  return {ErrorCode::Corrupt, "a point's result: " + why,
          "the results are of another program: name another folder with -o"};
}

}  // namespace

const char* to_string(End end) {
  return std::ranges::find(kEnds, end, &std::pair<End, const char*>::first)->second;
}

std::string to_json(const PointResult& result) {
  const Json document{{"outcome", to_string(result.end)},
                      {"reason", result.reason},
                      {"step_s", result.step.count()},
                      {"compute_s", result.compute.count()},
                      {"exposed_s", result.exposed.count()},
                      {"call_error_percent", result.call_error_percent},
                      {"nranks", result.ranks},
                      {"hosts", result.hosts},
                      {"tokens", result.tokens},
                      {"memory_bytes", result.memory},
                      {"limit", result.limit}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<PointResult> parse_point_result(std::string_view json) {
  try {
    const Json document = Json::parse(json);
    PointResult result;
    const auto word = document.at("outcome").get<std::string>();
    const auto end =
        std::ranges::find_if(kEnds, [&](const auto& one) { return word == one.second; });
    if (end == kEnds.end()) return not_a_result(fmt::format("outcome '{}'", word));
    result.end = end->first;
    result.reason = document.at("reason").get<std::string>();
    result.step = Seconds{document.at("step_s").get<double>()};
    result.compute = Seconds{document.at("compute_s").get<double>()};
    result.exposed = Seconds{document.at("exposed_s").get<double>()};
    result.call_error_percent = document.at("call_error_percent").get<double>();
    result.ranks = document.at("nranks").get<int>();
    result.hosts = document.at("hosts").get<int>();
    result.tokens = document.at("tokens").get<double>();
    result.memory = document.value("memory_bytes", 0.0);  // missing in older results
    result.limit = document.at("limit").get<std::string>();
    return result;
  } catch (const Json::exception& wrong) {
    return not_a_result(wrong.what());
  }
}

}  // namespace ringside
