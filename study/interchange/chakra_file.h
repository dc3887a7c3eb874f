#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "study/interchange/chakra.pb.h"

/// Reads and writes the file of one rank: messages, each preceded by its length.
namespace ringside::study {

inline constexpr const char* kChakraVersion = "0.0.4";

/// Appends a message to a file's bytes.
void append_message(const google::protobuf::MessageLite& message, std::string& bytes);

/// Returns true if the bytes begin like a Chakra trace.
bool is_chakra(std::string_view bytes);

/// Calls `take` with each node in the order of the file.
/// where   file name, for messages
/// errors  Corrupt: truncated, not a message, or one of more than 16 MiB; those of `take`
Status read_chakra(std::string_view bytes, const std::string& where,
                   const std::function<Status(const chakra::Node& node)>& take);

}  // namespace ringside::study
