#include "study/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/suggest.h"
#include "engine/tuning/parameters.h"
#include "study/idle_variables.h"

namespace ringside::study {
namespace {

constexpr std::array kKeys{
    WhatIfKey{"on", "hosts, as --on",
              [](SimQuestion& question, const std::string& value) -> Status {
                question.job.on = value;
                return {};
              }},
    WhatIfKey{"nodes", "nodes of the job",
              [](SimQuestion& question, const std::string& value) -> Status {
                RINGSIDE_TRY(question.job.nodes, parse_count("nodes", value));
                question.job.gpus.reset();
                return {};
              }},
    WhatIfKey{"gpus", "GPUs of the job, in place of nodes",
              [](SimQuestion& question, const std::string& value) -> Status {
                RINGSIDE_TRY(question.job.gpus, parse_count("gpus", value));
                question.job.nodes.reset();
                return {};
              }},
    WhatIfKey{"fabric", "as --fabric",
              [](SimQuestion& question, const std::string& value) -> Status {
                question.job.set.push_back("fabric=" + value);
                return {};
              }},
    WhatIfKey{"nvl_domain", "hosts that share one NVLink domain",
              [](SimQuestion& question, const std::string& value) -> Status {
                RINGSIDE_TRY(question.job.nvl_domain, parse_count("nvl_domain", value));
                return {};
              }},
    WhatIfKey{"nics", "NICs of each host",
              [](SimQuestion& question, const std::string& value) -> Status {
                return apply_host_setting(question.job.hosts, "nics", value);
              }},
    WhatIfKey{"nic_rate", "rate of each NIC, such as 400Gbit/s",
              [](SimQuestion& question, const std::string& value) -> Status {
                return apply_host_setting(question.job.hosts, "nic_rate", value);
              }},
    WhatIfKey{"drop_rail", "a NIC that each host lacks",
              [](SimQuestion& question, const std::string& value) -> Status {
                return apply_host_setting(question.job.hosts, "drop_rail", value);
              }},
    WhatIfKey{"gdr", "GPUDirect RDMA: on, off",
              [](SimQuestion& question, const std::string& value) -> Status {
                return apply_host_setting(question.job.hosts, "gdr", value);
              }},
    WhatIfKey{"net", "as --net",
              [](SimQuestion& question, const std::string& value) -> Status {
                question.net = value;
                return {};
              }},
    WhatIfKey{"nccl", "as --nccl",
              [](SimQuestion& question, const std::string& value) -> Status {
                question.nccl = value;
                return {};
              }},
    WhatIfKey{"launch", "as --launch",
              [](SimQuestion& question, const std::string& value) -> Status {
                question.launch = value;
                return {};
              }},
    WhatIfKey{"algo", "as --algo",
              [](SimQuestion& question, const std::string& value) -> Status {
                question.algorithm = value;
                return {};
              }},
    WhatIfKey{"proto", "as --proto",
              [](SimQuestion& question, const std::string& value) -> Status {
                question.protocol = value;
                return {};
              }},
    WhatIfKey{"channels", "as --channels",
              [](SimQuestion& question, const std::string& value) -> Status {
                RINGSIDE_TRY(question.channels, parse_count("channels", value));
                if (question.channels > 0) return {};
                return Error{ErrorCode::InvalidArgument, "channels: 0 of them carry nothing",
                             "give 1 or more"};
              }},
    WhatIfKey{"fidelity", "as --fidelity",
              [](SimQuestion& question, const std::string& value) -> Status {
                question.fidelity = value;
                return {};
              }},
};

Error of_vary(const Error& error) { return {error.code, "--vary: " + error.message, error.help}; }

/// The base is always simulated: without it there is nothing to compare with.
bool is_base(const Variant& variant) { return variant.settings.empty(); }

std::string refusal_of(const Error& error) {
  return error.help.empty() ? error.message : fmt::format("{}; {}", error.message, error.help);
}

/// Returns the length of the value at the start of the text: up to the first comma outside brackets and quotes.
/// returns  npos: one of them has no end
std::size_t value_length(std::string_view text) {
  std::string open;  // the closing characters that are still missing
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char one = text[i];
    const bool is_quoted = !open.empty() && (open.back() == '"' || open.back() == '\'');
    if (!open.empty() && one == open.back()) {
      open.pop_back();
    } else if (is_quoted) {
      continue;
    } else if (one == '"' || one == '\'') {
      open += one;
    } else if (one == '[' || one == '{') {
      open += one == '[' ? ']' : '}';
    } else if (one == ',' && open.empty()) {
      return i;
    }
  }
  return open.empty() ? text.size() : std::string_view::npos;
}

std::string unquoted(std::string_view value) {
  const bool is_quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                         value.find(value.front(), 1) == value.size() - 1;
  return std::string(is_quoted ? value.substr(1, value.size() - 2) : value);
}

}  // namespace

std::span<const WhatIfKey> what_if_keys() { return kKeys; }

Status apply_setting(SimQuestion& question, const std::string& key, const std::string& value) {
  const auto row = std::ranges::find(kKeys, key, &WhatIfKey::name);
  if (row != kKeys.end()) return row->apply(question, value);
  std::vector<std::string_view> known = known_variables();
  const bool is_variable = std::ranges::find(known, key) != known.end() || is_idle_variable(key);
  if (is_variable || is_cluster_key(key)) {
    question.job.set.push_back(key + "=" + value);  // the last one counts
    return {};
  }
  for (const WhatIfKey& one : kKeys) known.push_back(one.name);
  known.insert(known.end(), {"placement", "fabric.oversubscription", "fabric.routing"});
  std::vector<std::string_view> few;
  for (const WhatIfKey& one : kKeys) few.push_back(one.name);
  const std::string_view nearest = nearest_word(key, known);
  return Error{
      ErrorCode::InvalidArgument, fmt::format("nothing is called '{}'", key),
      fmt::format("{}known: {}, placement, fabric.KEY of a cluster's file, NCCL's variables",
                  nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest),
                  fmt::join(few, ", "))};
}

Result<VaryAxis> parse_vary(const std::string& text) {
  const std::size_t equals = text.find('=');
  const Error bad{ErrorCode::InvalidArgument, fmt::format("'{}' is not KEY=VALUE,VALUE", text),
                  "such as nics=4,8"};
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return bad;
  VaryAxis axis{.key = text.substr(0, equals), .values = {}};
  for (std::size_t from = equals + 1; from <= text.size();) {
    const std::string_view rest = std::string_view(text).substr(from);
    const std::size_t length = value_length(rest);
    if (length == std::string_view::npos) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' opens a bracket or a quote that nothing ends", text),
                   "such as NCCL_ALGO=\"Ring,Tree\",NVLS or fabric.dims=[4,2],[8,1]"};
    }
    std::string value = unquoted(rest.substr(0, length));
    if (value.empty()) return bad;
    axis.values.push_back(std::move(value));
    from += length + 1;
  }
  return axis;
}

std::string Variant::label() const {
  std::string text;
  for (const auto& [key, value] : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text.empty() ? "base" : text;
}

Result<std::vector<Variant>> variants_of(const SimQuestion& base,
                                         const std::vector<std::string>& vary,
                                         std::optional<int> drop_rail) {
  if (!base.trace.empty()) {
    return Error{ErrorCode::InvalidArgument, "--trace with what-ifs",
                 "a trace holds one simulation: omit --vary and --drop-rail"};
  }
  std::vector<VaryAxis> axes;
  std::size_t all = 1;
  for (const std::string& text : vary) {
    auto parsed = parse_vary(text);
    if (!parsed) return of_vary(parsed.error());
    VaryAxis axis = *std::move(parsed);
    if (std::ranges::find(axes, axis.key, &VaryAxis::key) != axes.end()) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--vary {} appears twice", axis.key),
                   "give its values once, with commas between"};
    }
    all *= axis.values.size();
    if (all > kMostVariants) {
      return Error{ErrorCode::InvalidArgument, "--vary: too many combinations",
                   fmt::format("at most {}", kMostVariants)};
    }
    axes.push_back(std::move(axis));
  }
  std::vector<Variant> variants{{.settings = {}, .question = base}};
  for (std::size_t number = 0; !axes.empty() && number < all; ++number) {
    Variant one{.settings = {}, .question = base};
    std::size_t rest = number;  // the last axis changes fastest
    std::size_t block = all;
    for (const VaryAxis& axis : axes) {
      block /= axis.values.size();
      const std::string& value = axis.values[rest / block];
      rest %= block;
      if (const Status set = apply_setting(one.question, axis.key, value); !set) {
        return of_vary(set.error());
      }
      one.settings.emplace_back(axis.key, value);
    }
    variants.push_back(std::move(one));
  }
  if (drop_rail) {
    Variant one{.settings = {{"drop_rail", std::to_string(*drop_rail)}}, .question = base};
    RINGSIDE_TRY(apply_setting(one.question, one.settings[0].first, one.settings[0].second));
    variants.push_back(std::move(one));
  }
  return variants;
}

Result<std::vector<PlannedVariant>> plan_variants(std::vector<Variant> variants) {
  std::vector<PlannedVariant> planned;
  for (Variant& variant : variants) {
    auto plan = plan_simulation(variant.question);
    if (plan) {
      planned.push_back({.variant = std::move(variant), .plan = *std::move(plan)});
      continue;
    }
    if (is_base(variant)) return plan.error();
    planned.push_back({.variant = std::move(variant), .refusal = refusal_of(plan.error())});
  }
  return planned;
}

Result<VariantCall> simulate_variant(const PlannedVariant& planned, Bytes size,
                                     const std::function<void(double)>& progress) {
  if (!planned.plan) return VariantCall{.row = {}, .refusal = planned.refusal};
  const auto simulated = [&]() -> Result<SimRow> {
    RINGSIDE_TRY(SimCall call, tune_call(*planned.plan, size));
    return simulate_call(*planned.plan, std::move(call), {.progress = progress});
  };
  auto row = simulated();
  if (row) return VariantCall{.row = *std::move(row), .refusal = {}};
  if (is_base(planned.variant) || row.error().code == ErrorCode::Aborted) return row.error();
  return VariantCall{.row = {}, .refusal = refusal_of(row.error())};
}

std::string limit_text(const SimRow& row) {
  std::string limit = limit_of(row);
  return limit == "bandwidth" && row.busiest ? row.busiest->name : limit;
}

}  // namespace ringside::study
