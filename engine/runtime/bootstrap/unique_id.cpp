#include "engine/runtime/bootstrap/unique_id.h"

#include <fmt/format.h>
#include <sodium.h>

#include <array>

namespace ringside {
namespace {

constexpr std::string_view kPrefix = "ringside:";
constexpr std::size_t kDigits = 2 * sizeof(Secret::bytes);

Error bad_id(std::string_view why) {
  return {ErrorCode::InvalidArgument, fmt::format("that is no unique id: {}", why),
          "an id reads ringside:IP:PORT:SECRET with 32 hexadecimal digits at its end"};
}

}  // namespace

std::string to_string(const UniqueId& id) {
  std::array<char, kDigits + 1> digits{};
  sodium_bin2hex(digits.data(), digits.size(),
                 reinterpret_cast<const unsigned char*>(id.secret.bytes.data()),
                 id.secret.bytes.size());
  return fmt::format("{}{}:{}", kPrefix, to_string(id.root), digits.data());
}

Result<UniqueId> parse_unique_id(std::string_view text) {
  if (!text.starts_with(kPrefix)) return bad_id("it does not begin with 'ringside:'");
  text.remove_prefix(kPrefix.size());
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_id("it has no secret");
  const std::string_view digits = text.substr(colon + 1);
  UniqueId id;
  std::size_t length = 0;
  const char* end = nullptr;
  if (digits.size() != kDigits ||
      sodium_hex2bin(reinterpret_cast<unsigned char*>(id.secret.bytes.data()),
                     id.secret.bytes.size(), digits.data(), digits.size(), nullptr, &length,
                     &end) != 0 ||
      length != id.secret.bytes.size() || end != digits.data() + digits.size()) {
    return bad_id("its secret is not 32 hexadecimal digits");
  }
  const Result<SocketAddress> root = parse_socket_address(text.substr(0, colon));
  if (!root) return bad_id(root.error().message);
  if (root->port == 0) return bad_id("port 0 cannot be connected to");
  id.root = *root;
  return id;
}

Secret derive_secret(std::string_view text) {
  constexpr std::string_view kLabel = "ringside derived secret 1";
  Secret secret;
  // The hash has a key for this use, so hashing the same text elsewhere gives another value.
  crypto_generichash(reinterpret_cast<unsigned char*>(secret.bytes.data()), secret.bytes.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     reinterpret_cast<const unsigned char*>(kLabel.data()), kLabel.size());
  return secret;
}

}  // namespace ringside
