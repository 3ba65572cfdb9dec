import Devices

/// A request of a device that has not ended: what is kept of it while it waits, 56 bytes.
struct Ask: Sendable {
    /// The fleet's name for it.
    let id: UInt64
    let device: UInt64
    /// When the device made it, and until when it waits: nanoseconds of the monotonic clock.
    let madeAt: UInt64
    let deadline: UInt64
    let fleet: UInt32
    /// Its place in `EchoContents`.
    let content: UInt32
    let kind: EchoRequest.Kind
    /// How often it was begun.
    var attempts: UInt8 = 0

    var isRepeatable: Bool { kind != .action }
}
