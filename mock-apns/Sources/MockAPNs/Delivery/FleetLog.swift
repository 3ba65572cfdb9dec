import Devices
import Measurement

/// What one fleet tells the device log. For whoever has the fleet.
final class FleetLog {
    private let block: DeviceLogBlock
    /// UNIX and monotonic nanoseconds of the same moment.
    private let (unixTime, monotonicTime): (UInt64, UInt64)
    /// Pushes that were received and are not told of.
    private(set) var unlogged: UInt64 = 0

    init(_ writer: DeviceLogWriter, unixTime: UInt64, monotonicTime: UInt64) {
        block = DeviceLogBlock(writer)
        self.unixTime = unixTime
        self.monotonicTime = monotonicTime
    }

    /// Before a push is given to the fleet.
    ///
    /// - Parameter push: nil: it has no name that the log knows.
    func willReceive(_ push: TracedPush?) {
        if let push { block.note(run: push.run, place: push.place) } else { unlogged += 1 }
    }

    func take(_ report: DeviceReport) {
        let ticket = DeviceTicket(report.ticket)
        guard let place = ticket.place else { return }
        let event: DeviceLog.Event =
            switch report.kind {
            case .outcome(let outcome): .outcome(outcome.rawValue)
            case .content: .content
            case .noContent: .noContent
            }
        let time = report.at == 0 ? 0 : monotonicTime &+ (report.at &- unixTime)
        block.add(event, sequence: ticket.sequence, place: place, time: time)
    }

    func flush() { block.flush() }

    /// The file has begun anew.
    func beginAnew() {
        block.beginAnew()
        unlogged = 0
    }
}
