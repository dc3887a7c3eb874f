#pragma once

/// How sure a kind of evidence in text makes a verdict. Chosen by hand, not fitted: below 0.8 wherever the evidence is of
/// one side only, and so that of two explanations the better founded one stands first. How often each tenth was right is
/// in docs/hang-accuracy.md, "Pastes".
namespace ringside::hang::confidence {

// Stacks.
inline constexpr double kOneStackOutside = 0.6;    ///< one works, three times as many wait
inline constexpr double kFewStacksOutside = 0.45;  ///< several do
inline constexpr double kStacksHalved = 0.4;       ///< one or two work, hardly more wait
inline constexpr double kRankByProcessOrder =
    0.5;  ///< the rank is the place of its process id on a host
inline constexpr double kFewStacksElsewhere =
    0.45;                                     ///< all wait, a quarter or fewer in another call
inline constexpr double kStacksParted = 0.3;  ///< all wait, and it cannot be told who should not
inline constexpr double kAllStacksTogether = 0.45;  ///< every rank of the job waits in one call

// What lines say outright.
inline constexpr double kAnalyserMissing = 0.85;  ///< PyTorch's analyser names who did not come
inline constexpr double kSignal = 0.88;      ///< a launcher tells of a signal that nobody else sent
inline constexpr double kExitStatus = 0.75;  ///< a launcher tells of a status
inline constexpr double kLocalRankOnly =
    0.55;  ///< the same of a local rank: global on one host only
inline constexpr double kDeathOfNobody = 0.5;  ///< a death, and nothing says of which rank
inline constexpr double kFewerCame = 0.5;      ///< a rendezvous counts who came, and names nobody
inline constexpr double kStoreLost = 0.5;  ///< others lost the store, which rank 0's process holds
inline constexpr double kPeerLost = 0.5;   ///< the only other rank, or the one that the call names
inline constexpr double kSequenceBehind = 0.7;   ///< fingerprints: most are a call ahead of a few
inline constexpr double kSequenceParted = 0.35;  ///< the same of two: either can be wrong
inline constexpr double kStatusOutlier = 0.6;    ///< ncclras: another status than the others
inline constexpr double kDeviceMissing = 0.4;    ///< an adapter that one rank cannot open

// What silence says, in logs alone.
inline constexpr double kSilentRoot = 0.5;  ///< everybody but the root waits in a broadcast
inline constexpr double kStallUnsure =
    0.45;  ///< all that speak wait in one call; nothing says how many there are

// Nothing stands.
inline constexpr double kHealthyReport = 0.7;  ///< ncclras: every communicator is OK
inline constexpr double kFinished = 0.8;       ///< the program tells that it has ended or serves
inline constexpr double kHarmless = 0.7;       ///< warnings that well jobs give, and nothing else
inline constexpr double kSteps = 0.45;  ///< steps, and no end: a log that stops looks the same
inline constexpr double kNothing = 0.1;

}  // namespace ringside::hang::confidence
