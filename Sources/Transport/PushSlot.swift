/// The push on one open stream; it lies at the stream's index.
struct PushSlot {
    var ticket = PushTicket(sequence: 0, due: 0)
    /// When it was given to the connection, ns.
    var started: UInt64 = 0
    /// When the write that handed its last byte to the kernel began, ns; 0 before.
    var written: UInt64 = 0
}
