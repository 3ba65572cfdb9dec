import PushLoop

/// The answers of pushes as engine `wire` reads them: one of sixteen a rejection with a body.
final class FrameParseStage: Stage {
    private let parse: FrameParse

    init() throws {
        parse = FrameParse()
        super.init("frame-parse")
    }

    override func run(_ pushes: Range<UInt64>) -> UInt64 { parse.run(UInt64(pushes.count)) }
}

/// A push's whole way through client and mock, everything on but TLS; the kernel's instructions are not counted.
final class LoopStage: Stage {
    // Made when first run: it is a connection.
    private var loop: PushLoop?
    private let devices: UInt64?

    /// - Parameter devices: the mock has a device model, and so many devices are pushed to; nil: it has none.
    init(_ name: String, devices: UInt64? = nil) {
        self.devices = devices
        super.init(name)
    }

    override func run(_ pushes: Range<UInt64>) -> UInt64 {
        let made = loop ?? (try! PushLoop(devices: devices))
        loop = made
        return made.run(UInt64(pushes.count))
    }
}
