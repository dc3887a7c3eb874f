#pragma once

/// How sure a kind of evidence makes a verdict: the one table of it. Chosen by hand, not fitted: below 0.8 wherever the
/// evidence is of one side only, and so that of two explanations the better founded one stands first. How often verdicts
/// of each tenth were right on labelled text is in docs/hang-accuracy.md, "Pastes"; on dumps, by class, above that.
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
inline constexpr double kTransfersCrossed =
    0.6;  ///< two stand in halves that do not fit each other
inline constexpr double kTransfersCrossedSome = 0.45;  ///< and there are ranks beside them
inline constexpr double kAllStacksTogether = 0.45;     ///< every rank of the job waits in one call

// What lines say outright.
inline constexpr double kAnalyserMissing = 0.85;  ///< PyTorch's analyser names who did not come
inline constexpr double kSignal = 0.88;      ///< a launcher tells of a signal that nobody else sent
inline constexpr double kExitStatus = 0.75;  ///< a launcher tells of a status
inline constexpr double kLocalRankOnly =
    0.55;  ///< the same of a local rank: global on one host only
inline constexpr double kDeathOfNobody = 0.5;  ///< a death, and nothing says of which rank
inline constexpr double kPerson = 0.5;         ///< somebody says it who saw it, and it is not here
inline constexpr double kNodeOfRanks =
    0.7;                                   ///< a node failed, and a script says which ranks it had
inline constexpr double kFewerCame = 0.5;  ///< a rendezvous counts who came, and names nobody
inline constexpr double kStoreLost = 0.5;  ///< others lost the store, which rank 0's process holds
inline constexpr double kPeerLost = 0.5;   ///< the only other rank, or the one that the call names
inline constexpr double kSequenceBehind = 0.7;   ///< fingerprints: most are a call ahead of a few
inline constexpr double kSequenceParted = 0.35;  ///< the same of two: either can be wrong
inline constexpr double kStatusOutlier = 0.6;    ///< ncclras: another status than the others
inline constexpr double kDeviceMissing = 0.4;    ///< an adapter that one rank cannot open

inline constexpr double kDesyncReport = 0.85;  ///< PyTorch's desync report names who did not join
inline constexpr double kEngineGone =
    0.95;  ///< ringside's engine: peers saw a process end without a goodbye
inline constexpr double kEngineStopped =
    0.95;                                      ///< the same: all but these have said that they live
inline constexpr double kEngineCut = 0.75;     ///< a connection broke between two ranks that live
inline constexpr double kEngineAbsent = 0.9;   ///< who did not come to the start of the job
inline constexpr double kEngineSilent = 0.85;  ///< all others report a failure
inline constexpr double kStartAbsent = 0.6;    ///< most have begun a communicator, nobody made it
inline constexpr double kFailure = 0.5;    ///< a failure of the start or the network, and no wait
inline constexpr double kFewBehind = 0.5;  ///< few have not ended a call that the others have
inline constexpr double kBarrierAbsent = 0.9;   ///< monitored_barrier names who did not come
inline constexpr double kBarrierLeft = 0.45;    ///< others came to it, and rank 0 knows who did not
inline constexpr double kFingerprint = 0.9;     ///< the check of every call names a minority
inline constexpr double kFingerprintTie = 0.5;  ///< the same, one against one
inline constexpr double kConsequence = 0.3;    ///< what follows from another end, and tells of none
inline constexpr double kGpuFault = 0.85;      ///< the GPU of one rank failed, and others timed out
inline constexpr double kGpuFaults = 0.55;     ///< those of several did
inline constexpr double kGpuFaultAlone = 0.5;  ///< the same, and nobody waits
inline constexpr double kOneRaised = 0.6;      ///< the program of one rank raised an error
inline constexpr double kSomeRaised = 0.4;     ///< of two, or nothing says of which
inline constexpr double kBusy = 0.55;  ///< a line tells what a process did while others gave up
inline constexpr double kOrderTraced = 0.6;  ///< two ranks' traces of their calls are crossed
inline constexpr double kPodState =
    0.6;  ///< kubectl: one pod never started or has ended, the others run
inline constexpr double kStopped = 0.75;  ///< ps shows one process stopped and the others running
inline constexpr double kInKernel = 0.5;  ///< the same of one that stands in the kernel
inline constexpr double kGpuIdle = 0.45;  ///< nvidia-smi: one GPU computes nothing, all others do
inline constexpr double kIommu = 0.55;    ///< the IOMMU refused a device's access, and ranks wait
inline constexpr double kOddLine = 0.52;  ///< most ranks' last lines agree, those of few do not
inline constexpr double kRowsOfCalls = 0.55;    ///< a person's table of the ranks' last calls
inline constexpr double kSlowByTimers = 0.6;    ///< a program's timers, by rank
inline constexpr double kLeftGroup = 0.55;      ///< a rank closed its group before they did
inline constexpr double kWatchdogStuck = 0.6;   ///< a watchdog tells that it stands still itself
inline constexpr double kNoUniqueId = 0.7;      ///< rank 0 of a group never made its id
inline constexpr double kRasDead = 0.85;        ///< ncclras: one process is dead
inline constexpr double kRasDeadMany = 0.6;     ///< several are: a launcher ends those of a host
inline constexpr double kRasDeadUnnamed = 0.8;  ///< one is, and nothing says which rank it was
inline constexpr double kRasSilent = 0.5;       ///< ncclras: a process did not answer
inline constexpr double kRasOdd = 0.7;          ///< ncclras: as many operations, and other ones
inline constexpr double kRasError = 0.7;        ///< ncclras: one rank holds an error of its own
inline constexpr double kRasErrors = 0.45;      ///< several do
inline constexpr double kRasBehind =
    0.6;  ///< ncclras: two operations or more behind, in one report
inline constexpr double kRasOneBehind = 0.45;  ///< one operation, as in a job that moves
inline constexpr double kAdapterFailed =
    0.7;  ///< an adapter reports a failed transfer, and ranks time out
inline constexpr double kAdapterMayHave =
    0.45;  ///< nobody timed out, or only flushed queues are told
inline constexpr double kAnalyserCulprit =
    0.5;  ///< the analyser's culprit: it presumes its first rank innocent
inline constexpr double kLibraryMismatch = 0.7;  ///< NCCL itself saw that two ranks disagree
inline constexpr double kOtherSize = 0.45;       ///< a message of another size than was expected

// What silence says, in logs alone.
inline constexpr double kSilentRoot = 0.5;  ///< everybody but the root waits in a broadcast
inline constexpr double kSpeaksMeanwhile =
    0.5;  ///< a rank's program writes its own lines while all others that speak time out
inline constexpr double kStallUnsure =
    0.45;  ///< all that speak wait in one call; nothing says how many there are

inline constexpr double kOutOfStep =
    0.5;  ///< ranks wait in different calls of one group: somebody has made one more
inline constexpr double kFewOutOfStep = 0.7;  ///< a quarter or fewer are behind the others
inline constexpr double kTransferEnds =
    0.45;  ///< everybody waits for ends of transfers without a peer
inline constexpr double kLoneTransfer = 0.35;  ///< a send or receive whose other end nothing names
inline constexpr double kSilentInRooted =
    0.5;  ///< silence in a call with a root: who has done its part goes on

// What dumps show. Corrections for what is lost or young stand where they are made.
inline constexpr double kMismatch = 0.9;     ///< a minority called something else
inline constexpr double kMismatchTie = 0.5;  ///< as many on each side
inline constexpr double kMismatchByHabit =
    0.65;  ///< the same, and what they called before tells which is usual
inline constexpr double kAbsent = 0.85;  ///< nothing is pending on a rank that others wait for
inline constexpr double kAbsentWithError = 0.9;  ///< and its log has an error of the program
inline constexpr double kAbsentByLog = 0.7;      ///< no dump of it: its log or ncclras alone
inline constexpr double kLonely =
    0.55;  ///< one went on while the others stand at one place behind it
inline constexpr double kLonelyBesideCreation =
    0.75;                                      ///< and their stacks are in the creation of a group
inline constexpr double kOwesTransfer = 0.75;  ///< the other half of a transfer was never made
inline constexpr double kOwesTransferUnseen = 0.55;  ///< and who owes it left no dump
inline constexpr double kOneUnseen = 0.7;            ///< the only rank without a dump is waited for
inline constexpr double kSomeUnseen = 0.55;          ///< several are, or others are lost too
inline constexpr double kStall = 0.65;               ///< all have entered, and nothing moves
inline constexpr double kStallSomeUnseen = 0.4;      ///< the same, some are unseen
inline constexpr double kRootUnseen =
    0.4;  ///< the same in a call with a root, which recorders do not keep
inline constexpr double kStuckDevice =
    0.8;  ///< calls are pending on one rank that the others ended long ago
inline constexpr double kStuckInTrace = 0.7;     ///< the same in a trace: nobody gave up
inline constexpr double kStalledTransfer = 0.6;  ///< both ends of one transfer stand
inline constexpr double kUnequalEnds = 0.8;      ///< they differ, and one does not use to call that
inline constexpr double kUnequalEndsTie = 0.65;  ///< they differ, and nothing tells

// Nothing stands.
inline constexpr double kHealthyReport = 0.7;  ///< ncclras: every communicator is OK
inline constexpr double kFinished = 0.8;       ///< the program tells that it has ended or serves
inline constexpr double kHarmless = 0.7;       ///< warnings that well jobs give, and nothing else
inline constexpr double kWentOn =
    0.6;  ///< steps after a pause, or beside warnings that mean little
inline constexpr double kSteps = 0.45;  ///< steps, and no end: a log that stops looks the same
inline constexpr double kNothing = 0.1;

}  // namespace ringside::hang::confidence
