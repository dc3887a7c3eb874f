#include <cstring>
#include <vector>

#include "diag/logparse/blocks.h"

namespace ringside::logs {
namespace {

class CopiedBlocks : public Blocks {
 public:
  CopiedBlocks(ByteSource& source, std::span<const char> before)
      : source_(&source), buffer_(before.begin(), before.end()), end_(before.size()) {}

  std::span<const char> next(std::size_t kept) override {
    const std::size_t needed = kept + kMost + kSlack;
    if (buffer_.size() < needed) buffer_.resize(kept + needed);
    if (kept > 0) std::memmove(buffer_.data(), buffer_.data() + end_ - kept, kept);
    const auto got = source_->read({buffer_.data() + kept, kMost});
    if (!got) status_ = got.error();
    const std::size_t size = got ? *got : 0;
    end_ = kept + size;
    return {buffer_.data() + kept, size};
  }

 private:
  ByteSource* source_;
  std::vector<char> buffer_;
  std::size_t end_ = 0;  ///< end of the last block in the buffer
};

}  // namespace

std::unique_ptr<Blocks> copied_blocks(ByteSource& source, std::span<const char> before) {
  return std::make_unique<CopiedBlocks>(source, before);
}

}  // namespace ringside::logs
