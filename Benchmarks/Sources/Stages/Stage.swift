/// One stage of a push's way, run again and again on fixed seeds: the same work on every machine.
public class Stage {
    /// What `make bench` and `make bench-instructions` call it.
    public let name: String
    /// Most of its instructions are OpenSSL's, which picks its code by the processor: they are not compared.
    public let isOpenSSL: Bool
    /// Pushes run so far.
    private var sequence: UInt64 = 0

    init(_ name: String, isOpenSSL: Bool = false) {
        self.name = name
        self.isOpenSSL = isOpenSSL
    }

    /// Runs the stage for the next `count` pushes; returns a number that depends on everything it made.
    public final func run(_ count: UInt64) -> UInt64 {
        let first = sequence
        sequence &+= count
        return run(first..<sequence)
    }

    func run(_ pushes: Range<UInt64>) -> UInt64 { preconditionFailure("a stage runs") }

    /// Every stage there is.
    ///
    /// - Throws: when one cannot be set up, which is a bug.
    public static func all() throws -> [Stage] {
        try ["alert", "silent", "rich", "live-activity", "voip"].map { try EncodeStage(profile: $0) } + [
            SignStage("sign-cached", policy: .cached(renewAfterSeconds: 3000)),
            SignStage("sign-each", policy: .perPush),
            HeaderStage(), HeaderStage(usesHuffman: true), FrameStage(), FrameParseStage(), ServerStage(),
            RecordStage(),
            LoopStage("client-and-mock"), LoopStage("mock-with-devices", devices: 100_000),
        ]
    }
}
