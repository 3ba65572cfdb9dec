/// A worker's engine: sends what its driver gives until the driver has nothing more.
///
/// A protocol because an engine may be built or left out; it is asked a handful of things a run, nothing a push.
public protocol PushEngine: AnyObject {
    /// Runs until every push of the driver has ended; blocks the calling thread, on which the driver is called.
    func run()
    /// Why the last connection was lost or not made; empty when none was.
    var lastProblem: String { get }
    /// Time in calls that read from and write to connections, ns: TLS and the kernel; 0 when the engine cannot tell.
    var transferTime: UInt64 { get }
    /// The kernel's part of it, ns; 0 when the engine cannot tell.
    var socketTime: UInt64 { get }
    /// CPU time spent on nothing but waiting for a push to be due, ns.
    var spinTime: UInt64 { get }
    /// Time waited for something to be due or to come, ns; nil when the engine cannot tell.
    var waitTime: UInt64? { get }
    /// TLS version and cipher of the last connection, as far as known; nil when plain.
    var tlsDescription: String? { get }
}

extension PushEngine {
    /// An engine that never spins.
    public var spinTime: UInt64 { 0 }
    public var waitTime: UInt64? { nil }
}
