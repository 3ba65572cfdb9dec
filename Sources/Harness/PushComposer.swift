import Measurement
import Networking
import Payloads
import Signing
import Transport

/// Signs and encodes one worker's pushes into its engine's memory, and times it.
///
/// Cost a push: besides encoding and signing, for one push in 16 two clock readings; no allocation, no lock.
struct PushComposer {
    let writers: PushWriters
    private let writer: PayloadWriter
    private let isSingle: Bool
    /// CPU time for getting provider tokens, ns: all signatures, and uses of a token by one in 16.
    private(set) var signTime: UInt64 = 0
    /// Seconds.
    var unixTime: Int64 = 0
    private let signer: TokenSigner?
    /// The same, for the calls of every push: without counting a reference.
    private let uncountedSigner: Unmanaged<TokenSigner>?
    private let run: RunID
    private let sendsIdentifier: Bool
    private let isMeasuring: Bool
    private let burnsTime: Bool
    private var burner: TimeBurner
    private let clock = CycleClock.shared
    /// Pushes composed so far, to pick those that are timed.
    private var composed: UInt64 = 0
    /// One push in so many has its encoding timed, and the use of a token that is there already.
    private static let sample: UInt64 = 16

    init(_ inputs: RunInputs, signer: TokenSigner?) {
        writers = PushWriters(inputs)
        writer = writers.first
        isSingle = writers.isSingle
        self.signer = signer
        uncountedSigner = signer.map(Unmanaged.passUnretained)
        run = inputs.run
        sendsIdentifier = inputs.scenario.apnsID
        isMeasuring = inputs.scenario.measure
        burner = TimeBurner(perPush: inputs.injectedCPU)
        burnsTime = inputs.injectedCPU > 0
    }

    /// Bytes the payload memory must have.
    var payloadCapacity: Int { writers.capacity }
    var tokensSigned: UInt64 { signer?.tokensSigned ?? 0 }

    var tokensReplaced: UInt64 { signer?.tokensReplaced ?? 0 }

    /// The target says that a token has expired that a push was begun with at `usedAt`: whether there is another one now.
    func replaceToken(connection: Int, usedAt: UInt64, now: UInt64) -> Bool {
        signer?.replace(connection: connection, usedAt: usedAt, time: now, unixTime: unixTime) ?? false
    }

    func connectionOpened(_ index: Int) { signer?.connectionOpened(index, unixTime: unixTime) }

    @inline(__always)
    mutating func compose(
        _ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest, _ recorder: Recorder
    ) {
        let sequence = ticket.sequence
        composed &+= 1
        let isSampled = isMeasuring ? composed & (Self.sample - 1) == 0 : false
        sign(connection, isSampled, ticket.isMeasured, &request, recorder)
        let begin = isSampled ? clock.now() : 0
        if isSingle {
            write(writer, sequence, &request)
        } else {
            let written = writers.write(
                sequence, unixTime: UInt64(truncatingIfNeeded: unixTime),
                into: .init(token: request.token, payload: request.payload))
            (request.headerSet, request.tokenLength) = (written.headerSet, written.token)
            request.payloadLength = written.payload
        }
        if sendsIdentifier {
            PushID.write(run: run, sequence: sequence, into: request.identifier)
            request.hasIdentifier = true
        }
        if burnsTime { burner.burn() }
        if isSampled, ticket.isMeasured {
            recorder.encoded(clock.nanoseconds(from: begin, to: clock.now()))
        }
    }

    @inline(__always)
    private func write(_ writer: PayloadWriter, _ sequence: UInt64, _ request: inout PushRequest) {
        let profile = writer.profileIndex(sequence: sequence)
        request.headerSet = profile
        request.tokenLength = writer.writeToken(device: writer.device(sequence: sequence), into: request.token)
        request.payloadLength = writer.write(
            sequence: sequence, profile: profile, unixTime: UInt64(truncatingIfNeeded: unixTime),
            into: request.payload)
    }

    /// A signature is always timed, the use of a token that is there already now and then.
    @inline(__always)
    private mutating func sign(
        _ connection: Int, _ isSampled: Bool, _ isMeasured: Bool, _ request: inout PushRequest, _ recorder: Recorder
    ) {
        guard let uncountedSigner else { return }
        let time: UInt64 = uncountedSigner._withUnsafeGuaranteedRef { signer in
            let mayHaveToSign = isMeasuring && signer.mayHaveToSign
            guard isSampled || mayHaveToSign else {
                request.authorization = signer.authorization(connection: connection, unixTime: unixTime)
                request.authorizationVersion = signer.version
                return 0
            }
            let begin = clock.now()
            request.authorization = signer.authorization(connection: connection, unixTime: unixTime)
            request.authorizationVersion = signer.version
            let time = clock.nanoseconds(from: begin, to: clock.now())
            if isMeasured { recorder.signed(time) }
            return mayHaveToSign ? time : time &* Self.sample
        }
        signTime &+= time
    }
}
