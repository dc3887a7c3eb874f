#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/hangs/outline_schema.h"

/// The keys that a scenario may contain, in addition to its steps (harness/hangs/outline_schema.h).
namespace ringside {

using hangs::SchemaKey;

std::span<const SchemaKey> scenario_keys();
std::span<const SchemaKey> cluster_keys();
std::span<const SchemaKey> expect_keys();
std::span<const SchemaKey> expect_hang_keys();
std::span<const SchemaKey> expect_finished_keys();
/// Returns the keys of all workloads. workload_kinds() lists them for each kind.
std::span<const SchemaKey> workload_keys();

/// Returns the names of the keys, for YamlMapping::check().
std::vector<std::string_view> names_of(std::span<const SchemaKey> keys);

/// Returns the tables of docs/reference/scenarios.md.
std::string schema_tables();

}  // namespace ringside
