import Faults
import Payloads
import Synchronization

/// Which devices are registered, for what, and which no longer are.
///
/// Cost: nothing when every token is taken; else one look-up a push (25 ns for synthetic devices, about 100 ns for a file)
/// and, once a device was changed by hand, a lock.
public final class DeviceDirectory: Sendable {
    /// Where devices come from.
    public enum Population: Sendable {
        /// Every well-formed token is a device.
        case everybody
        case synthetic(SyntheticDevices)
        case file(DeviceRegister)
    }

    /// Tokens that become invalid while the mock runs, drawn by seed.
    public struct Decay: Sendable, Equatable {
        /// Of all devices, 0 to 1.
        public var share: Double
        /// By when all of them are invalid, nanoseconds after the start; each at its own time.
        public var within: UInt64
        public init(share: Double, within: UInt64) {
            self.share = share
            self.within = within
        }
    }

    private let population: Population
    /// It takes everybody, always, unless a device was changed by hand.
    private let isOpen: Bool
    private let decay: Decay?
    /// This share of the devices belongs to the development environment; nil: any device to both.
    private let developmentShare: Double?
    private let seed: UInt64
    private let startedAt: UInt64
    /// UNIX milliseconds at `startedAt`.
    private let startTime: Int64
    private let changes = Mutex<[TokenKey: DeviceRecord]>([:])
    private let hasChanges = Atomic<Bool>(false)
    private let hasUnreached: Atomic<Bool>

    /// - Parameters:
    ///   - startedAt: nanoseconds of the monotonic clock.
    ///   - startTime: UNIX milliseconds at the same moment.
    public init(
        _ population: Population, decay: Decay? = nil, developmentShare: Double? = nil, seed: UInt64 = 1,
        startedAt: UInt64, startTime: Int64
    ) {
        self.population = population
        isOpen = if case .everybody = population { decay == nil && developmentShare == nil } else { false }
        self.decay = decay
        self.developmentShare = developmentShare
        self.seed = seed
        self.startedAt = startedAt
        self.startTime = startTime
        if case .file(let register) = population {
            hasUnreached = Atomic(register.hasUnreached)
        } else {
            hasUnreached = Atomic(false)
        }
    }

    /// Some device was said to be offline, or to have notifications disabled, by a file or by hand.
    var mayBeUnreached: Bool { hasUnreached.load(ordering: .relaxed) }

    /// Nothing needs to be looked up.
    var takesAll: Bool { isOpen && !hasChanges.load(ordering: .relaxed) }

    /// Accepted, or why this device cannot be pushed to.
    func check(
        _ token: UnsafeRawBufferPointer, topic: UnsafeRawBufferPointer, environment: PushEnvironment, now: UInt64
    ) -> PushAnswer {
        var key: TokenKey?
        if hasChanges.load(ordering: .relaxed) {
            let found = TokenKey(token)
            key = found
            if let record = changes.withLock({ $0[found] }) { return record.answer(topic, environment) }
        }
        switch population {
        case .everybody: break
        case .synthetic(let devices):
            if devices.index(ofToken: token) == nil { return .rejected(.badDeviceToken) }
        case .file(let register):
            let found = key ?? TokenKey(token)
            key = found
            guard let record = register.record(found) else { return .rejected(.badDeviceToken) }
            let answer = record.answer(topic, environment)
            if answer.reason != nil { return answer }
        }
        guard decay != nil || developmentShare != nil else { return .accepted }
        let found = key ?? TokenKey(token)
        if let developmentShare {
            let isDevelopment = found.share(seed ^ 0xDE7) < developmentShare
            if isDevelopment != (environment == .development) { return .rejected(.badDeviceToken) }
        }
        if let decay {
            let draw = found.share(seed ^ 0x410)
            if draw < decay.share {
                let after = UInt64(draw / decay.share * Double(decay.within))
                if now >= startedAt + after {
                    return PushAnswer(reason: .unregistered, timestamp: startTime + Int64(after / 1_000_000))
                }
            }
        }
        return .accepted
    }

    /// Whether there is such a device, whatever its state.
    func has(_ token: String) -> Bool {
        let key = TokenKey(token)
        if hasChanges.load(ordering: .relaxed), changes.withLock({ $0[key] }) != nil { return true }
        return switch population {
        case .everybody: true
        case .synthetic(let devices): Array(token.utf8).withUnsafeBytes(devices.index) != nil
        case .file(let register): register.record(key) != nil
        }
    }

    /// The device's record when a file or somebody has said something of it.
    func record(_ key: TokenKey) -> DeviceRecord? {
        if hasChanges.load(ordering: .relaxed), let record = changes.withLock({ $0[key] }) { return record }
        if case .file(let register) = population { return register.record(key) }
        return nil
    }

    /// Changes one device from now on.
    func change(_ key: TokenKey, to record: DeviceRecord) {
        changes.withLock { $0[key] = record }
        if record.isUnreached { hasUnreached.store(true, ordering: .relaxed) }
        hasChanges.store(true, ordering: .relaxed)
    }

    func forgetChanges() {
        changes.withLock { $0 = [:] }
        hasChanges.store(false, ordering: .relaxed)
    }
}

/// A device token's two 64-bit hashes over its digits in lower case: what is kept of it where there are many.
struct TokenKey: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(_ token: UnsafeRawBufferPointer) {
        var high: UInt64 = 0xCBF2_9CE4_8422_2325
        var low: UInt64 = 0x9E37_79B9_7F4A_7C15
        for byte in token {
            // Digits have this bit already, letters become lower case.
            let digit = UInt64(byte | 0x20)
            high = (high ^ digit) &* 0x0000_0100_0000_01B3
            low = (low ^ digit) &* 0xFF51_AFD7_ED55_8CCD
            low ^= low >> 29
        }
        self.high = high
        self.low = low
    }

    init(_ text: String) {
        var text = text
        self = text.withUTF8 { TokenKey(UnsafeRawBufferPointer($0)) }
    }

    /// 0 ..< 1, by seed.
    func share(_ seed: UInt64) -> Double {
        var random = SeededRandom(seed: high ^ low &* 31 ^ seed)
        return random.unit()
    }
}

/// What is known of one device.
struct DeviceRecord: Sendable, Hashable {
    enum State: String, Sendable, CaseIterable {
        case registered, unregistered, expired
        /// Pushes are accepted and discarded. "Viewing the status of push notifications using Metrics and APNs": "A person disabled
        /// push notifications for your app in Settings on the destination device", which its metrics call "Discarded - Disabled".
        case disabled

        static let names = allCases.map(\.rawValue)
    }

    var state = State.registered
    /// UNIX milliseconds at which it became what it is.
    var since: Int64 = 0
    /// Bundle id it is registered for; nil: any.
    var topic: String?
    var environment: PushEnvironment?
    var isOffline = false

    /// A push for it may go elsewhere than to its device at once.
    var isUnreached: Bool { isOffline || state == .disabled }

    func answer(_ topic: UnsafeRawBufferPointer, _ environment: PushEnvironment) -> PushAnswer {
        if let own = self.environment, own != environment { return .rejected(.badDeviceToken) }
        switch state {
        case .unregistered: return PushAnswer(reason: .unregistered, timestamp: since)
        case .expired: return PushAnswer(reason: .expiredToken, timestamp: since)
        case .registered, .disabled: break
        }
        if let own = self.topic {
            // The topic is the bundle id, or that with a push type's suffix.
            let text = String(decoding: topic, as: UTF8.self)
            guard text == own || text.hasPrefix(own + ".") else { return .rejected(.deviceTokenNotForTopic) }
        }
        return .accepted
    }
}
