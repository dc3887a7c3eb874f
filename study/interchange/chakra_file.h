#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "study/interchange/chakra.pb.h"

/// The file of one rank: messages, each after its length.
namespace ringside::study {

inline constexpr const char* kChakraVersion = "0.0.4";

/// Appends a message to a file's bytes.
void append_message(const google::protobuf::MessageLite& message, std::string& bytes);

/// Whether the bytes begin as a Chakra trace does.
bool is_chakra(std::string_view bytes);

/// Calls `take` with each node, in the file's order.
/// where   for messages
/// errors  Corrupt: torn, or no message; the errors of `take`
Status read_chakra(std::string_view bytes, const std::string& where,
                   const std::function<Status(const chakra::Node& node)>& take);

}  // namespace ringside::study
