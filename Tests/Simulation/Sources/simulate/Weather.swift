/// What network, machines and operators do in one run, drawn from its seed. Each kind of trouble is there in some runs and
/// not in others, so that every kind is also met alone. Times are nanoseconds.
struct Weather {
    /// One way, and up to so much more.
    var latency: UInt64 = 0
    var jitter: UInt64 = 0
    /// Bytes a connection's buffers hold, each way.
    var toServerCapacity = 262_144
    var toClientCapacity = 262_144
    /// Shares of the writes and reads that move less than they could.
    var shortWrites = 0.0
    var shortReads = 0.0
    /// Share of what is written that arrives in pieces.
    var pieces = 0.0
    /// Input is hidden from the event loop once part of it was read, as TLS does.
    var hidesInput = false
    /// Shares of the connections.
    var refused = 0.0
    var unanswered = 0.0
    var reset = 0.0
    var halfClosed = 0.0
    var frozen = 0.0
    var vanishing = 0.0
    /// What was read before a reset came is lost with it.
    var resetDropsInput = false
    /// When troubles of a connection happen: up to so long after it began.
    var troubleWithin: UInt64 = 300_000_000
    var longestFreeze: UInt64 = 200_000_000
    /// A worker's or the mock's thread does not run for a while: share of the wake-ups, and how long.
    var workerStalls = 0.0
    var mockStalls = 0.0
    var longestStall: UInt64 = 50_000_000
    /// How late a thread wakes up always.
    var wakeLateness: UInt64 = 0
    /// Shares of the frames from the mock.
    var repeated = 0.0
    var held = 0.0
    var dropped = 0.0
    var reshaped = 0.0
    var insertedValid = 0.0
    var insertedInvalid = 0.0
    var corrupted = 0.0
    var longestHold: UInt64 = 100_000_000
    /// What is read of the clock takes up to so long.
    var clockCost: UInt64 = 0

    init(_ random: inout Random) {
        func sometimes(_ share: Double) -> Bool { random.chance(share) }
        if sometimes(0.8) { latency = random.spread(1_000, 40_000_000) }
        if sometimes(0.5) { jitter = random.spread(1_000, max(2_000, latency)) }
        if sometimes(0.3) { toServerCapacity = Int(random.spread(64, 65_536)) }
        if sometimes(0.3) { toClientCapacity = Int(random.spread(64, 65_536)) }
        if sometimes(0.4) { shortWrites = random.scale(0.01, 0.9) }
        if sometimes(0.4) { shortReads = random.scale(0.01, 0.9) }
        if sometimes(0.4) { pieces = random.scale(0.01, 0.9) }
        hidesInput = sometimes(0.2)
        if sometimes(0.15) { refused = random.scale(0.02, 1) }
        if sometimes(0.1) { unanswered = random.scale(0.02, 0.5) }
        if sometimes(0.2) { reset = random.scale(0.05, 0.9) }
        if sometimes(0.2) { halfClosed = random.scale(0.05, 0.9) }
        if sometimes(0.2) { frozen = random.scale(0.05, 0.9) }
        if sometimes(0.1) { vanishing = random.scale(0.05, 0.5) }
        resetDropsInput = sometimes(0.5)
        troubleWithin = random.spread(1_000_000, 1_000_000_000)
        longestFreeze = random.spread(1_000_000, 500_000_000)
        if sometimes(0.25) { workerStalls = random.scale(0.001, 0.1) }
        if sometimes(0.25) { mockStalls = random.scale(0.001, 0.1) }
        longestStall = random.spread(1_000_000, 200_000_000)
        if sometimes(0.4) { wakeLateness = random.spread(100, 1_000_000) }
        if sometimes(0.15) { repeated = random.scale(0.005, 0.3) }
        if sometimes(0.2) { held = random.scale(0.005, 0.3) }
        if sometimes(0.15) { dropped = random.scale(0.002, 0.1) }
        if sometimes(0.2) { reshaped = random.scale(0.01, 0.9) }
        if sometimes(0.25) { insertedValid = random.scale(0.002, 0.3) }
        if sometimes(0.1) { insertedInvalid = random.scale(0.001, 0.05) }
        if sometimes(0.1) { corrupted = random.scale(0.001, 0.05) }
        longestHold = random.spread(100_000, 500_000_000)
        if sometimes(0.7) { clockCost = random.spread(2, 20_000) }
    }
}
