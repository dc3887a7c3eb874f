#include "engine/runtime/host/host_table.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/fd.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/write_file.h"
#include "engine/runtime/host/host_tables.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 7> kKeys{"collective", "transport", "crowded", "ranks",
                                                "up_to",      "algorithm", "protocol"};

Error corrupt(const std::string& where, const YAML::Mark& mark, const std::string& what,
              const std::string& help = "") {
  return {ErrorCode::Corrupt, fmt::format("{}:{}: {}", where, mark.line + 1, what), help};
}

Result<Bytes> parse_limit(const std::string& text) {
  if (text == "inf") return kNoLimit;
  return parse_bytes(text);
}

Status check_keys(const YAML::Node& node, const std::string& where) {
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    if (std::ranges::find(kKeys, key) == kKeys.end()) {
      return corrupt(where, entry.first.Mark(), fmt::format("unknown key '{}'", key),
                     suggestion(key, kKeys));
    }
  }
  for (const std::string_view key : kKeys) {
    if (!node[std::string(key)]) {
      return corrupt(where, node.Mark(), fmt::format("a rule without '{}'", key));
    }
  }
  return {};
}

Result<HostRule> parse_rule(const YAML::Node& node, const std::string& where) {
  if (!node.IsMap()) return corrupt(where, node.Mark(), "a rule that is no mapping");
  RINGSIDE_TRY(check_keys(node, where));
  const auto text = [&](const char* key) { return node[key].as<std::string>(); };
  const auto at_line = [&](const Error& error) {
    return corrupt(where, node.Mark(), error.message, error.help);
  };
  HostRule rule;
  const auto collective = parse_collective(text("collective"));
  if (!collective) return at_line(collective.error());
  const auto algorithm = parse_algorithm(text("algorithm"));
  if (!algorithm) return at_line(algorithm.error());
  const auto protocol = parse_protocol(text("protocol"));
  if (!protocol) return at_line(protocol.error());
  const auto up_to = parse_limit(text("up_to"));
  if (!up_to) return at_line(up_to.error());
  const auto transport = parse_transport(text("transport"));
  if (!transport) return at_line(transport.error());
  rule.collective = *collective;
  rule.transport = *transport;
  rule.is_crowded = node["crowded"].as<bool>();
  rule.nranks = node["ranks"].as<int>();
  rule.up_to = *up_to;
  rule.algorithm = *algorithm;
  rule.protocol = *protocol;
  return rule;
}

}  // namespace

// Of the rules that apply, the one for the most ranks wins, then the one with the smallest limit.
const HostRule* HostTable::find(const HostRule& call) const {
  const HostRule* best = nullptr;
  for (const HostRule& rule : rules) {
    if (rule.collective != call.collective || rule.transport != call.transport ||
        rule.is_crowded != call.is_crowded || rule.nranks > call.nranks ||
        call.up_to > rule.up_to) {
      continue;
    }
    const bool is_nearer = best == nullptr || rule.nranks > best->nranks;
    const bool is_tighter =
        best != nullptr && rule.nranks == best->nranks && rule.up_to < best->up_to;
    if (is_nearer || is_tighter) best = &rule;
  }
  return best;
}

void HostTable::replace(const std::vector<HostRule>& measured) {
  if (measured.empty()) return;
  std::erase_if(rules, [&](const HostRule& rule) { return rule.is_same_kind(measured.front()); });
  rules.insert(rules.end(), measured.begin(), measured.end());
}

Result<HostTable> parse_host_table(std::string_view text, const std::string& where) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsMap() || !root["version"] || root["version"].as<int>() != 1 || !root["rules"]) {
      return Error{ErrorCode::Corrupt, where + ": not a host table of version 1",
                   "remove it, or measure anew with ringside bench --tune"};
    }
    HostTable table;
    for (const YAML::Node& node : root["rules"]) {
      RINGSIDE_TRY(HostRule rule, parse_rule(node, where));
      table.rules.push_back(rule);
    }
    return table;
  } catch (const YAML::Exception& error) {
    return corrupt(where, error.mark, error.msg);
  }
}

std::string to_yaml(const HostTable& table) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "version" << YAML::Value << 1;
  out << YAML::Key << "rules" << YAML::Value << YAML::BeginSeq;
  for (const HostRule& rule : table.rules) {
    out << YAML::Flow << YAML::BeginMap;
    const auto write = [&](const char* key, const auto& value) {
      out << YAML::Key << key << YAML::Value << value;
    };
    write("collective", to_string(rule.collective));
    write("transport", std::string(rule.transport->name));
    write("crowded", rule.is_crowded);
    write("ranks", rule.nranks);
    write("up_to", rule.up_to == kNoLimit ? "inf" : format_bytes(rule.up_to));
    write("algorithm", to_string(rule.algorithm));
    write("protocol", to_string(rule.protocol));
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

const HostTable& usual_host_table() {
  static const HostTable table = [] {
    auto parsed = parse_host_table(kHostTables.front().text, "the built-in host table");
    RINGSIDE_ASSERT(parsed, "{}", parsed.error().message);
    return *std::move(parsed);
  }();
  return table;
}

std::string host_table_path(const Environment& environment) {
  if (const auto config = environment("XDG_CONFIG_HOME")) return *config + "/ringside/host.yaml";
  if (const auto home = environment("HOME")) return *home + "/.config/ringside/host.yaml";
  return {};
}

Result<HostTable> load_host_table(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return usual_host_table();
  return parse_host_table(*text, path);
}

Status save_host_table(const HostTable& table, const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  if (const Status written = write_file(path, to_yaml(table)); !written) {
    return Error{ErrorCode::System, written.error().message,
                 "give another place by XDG_CONFIG_HOME"};
  }
  return {};
}

}  // namespace ringside
