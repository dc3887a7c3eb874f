#include "engine/channels/speeds.h"

namespace ringside {
namespace {

constexpr float kIntra[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr float kInter[] = {48, 30, 28, 24, 20, 18,   15,   12,    10,   9,
                            7,  6,  5,  4,  3,  2.4F, 1.2F, 0.24F, 0.12F};
constexpr float kIntra90[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr float kInter90[] = {48, 45, 42, 40, 30,   24,   22,    20,   17.5F,
                              15, 12, 6,  3,  2.4F, 1.2F, 0.24F, 0.12F};
constexpr float kIntra100[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr float kInter100[] = {96, 86,    80, 48, 45.1F, 42, 40,   30,   24,    22,
                               20, 17.5F, 15, 12, 6,     3,  2.4F, 1.2F, 0.24F, 0.12F};

}  // namespace

std::span<const float> channel_speeds(int sm, bool is_inter) {
  if (sm >= 100) return is_inter ? std::span<const float>{kInter100} : kIntra100;
  if (sm >= 90) return is_inter ? std::span<const float>{kInter90} : kIntra90;
  return is_inter ? std::span<const float>{kInter} : kIntra;
}

}  // namespace ringside
