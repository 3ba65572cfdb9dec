import Devices
import Foundation
import Networking
import Synchronization

/// What devices ask of their backend, as real HTTP: a thread of its own, which takes requests from the threads of all fleets and tells
/// each fleet how they ended.
package final class Echo: @unchecked Sendable {
    /// How the times of fleets lie beside the monotonic clock.
    package struct Timeline: Sendable {
        /// UNIX nanoseconds of a fleet at `startedAt`, nanoseconds of the monotonic clock.
        let startTime: UInt64
        let startedAt: UInt64

        package init(startTime: UInt64, startedAt: UInt64) {
            self.startTime = startTime
            self.startedAt = startedAt
        }

        /// Of the monotonic clock; 0 where that would be before its beginning.
        func monotonic(_ time: UInt64) -> UInt64 {
            time >= startTime
                ? startedAt &+ (time - startTime) : startedAt - min(startedAt, startTime - time)
        }
    }

    /// Tells the fleet how one of its requests ended, at a time of the monotonic clock, and says whether it was still waited for. On the
    /// echo's thread.
    package typealias Ended =
        @Sendable (
            _ request: UInt64, _ fleet: Int, _ epoch: UInt32, _ ending: EchoEnding, _ time: UInt64
        ) -> Bool

    private struct Asked {
        let request: EchoRequest
        let fleet: UInt32
        let epoch: UInt32
    }

    private enum Command {
        case begin(epoch: UInt32, DispatchSemaphore)
        case report(Reply)
    }

    private final class Reply: Sendable {
        let books = Mutex<EchoBooks>(EchoBooks())
        let semaphore = DispatchSemaphore(value: 0)
    }

    private struct Inbox {
        var asked: [Asked] = []
        var commands: [Command] = []
        var isRunning = false
        var isStopping = false
        /// After the end: what was under way, and what is asked since, stays so.
        var books = EchoBooks()
        var epoch: UInt32 = 0
    }

    package let url: String
    private let inbox = Mutex(Inbox())
    private let wakeUp: WakeUp
    private let ended = DispatchSemaphore(value: 0)
    private let served: ServedSocket
    // Until `start`, and not touched afterwards but by the thread.
    private var loop: EchoLoop?
    private var timeline = Timeline(startTime: 0, startedAt: 0)

    /// - Throws: there is no memory, no descriptor, or no certificates where they should be.
    package init(_ configuration: EchoConfiguration) throws(EchoError) {
        if let file = configuration.certificates, access(file, R_OK) != 0 {
            throw EchoError("\(file): cannot read it: \(String(cString: strerror(errno)))")
        }
        let loop = try EchoLoop(configuration)
        url = configuration.target.url
        wakeUp = loop.reactor.wakeUp
        served = loop.served
        self.loop = loop
    }

    /// Begins to ask, once.
    package func start(_ timeline: Timeline, _ ended: @escaping Ended) {
        guard let loop else { return }
        self.loop = nil
        self.timeline = timeline
        inbox.withLock { $0.isRunning = true }
        nonisolated(unsafe) let own = loop
        let thread = Thread { [self] in
            run(own, ended)
            self.ended.signal()
        }
        thread.name = "mock-apns echo"
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Cancels what is under way, which stays so in the figures, and ends the thread.
    package func stop() {
        let isRunning = inbox.withLock { inbox in
            inbox.isStopping = true
            return inbox.isRunning
        }
        guard isRunning else { return }
        wakeUp.signal()
        // A peer that keeps the thread busy loses its connection; a thread that does not come back even so is left behind.
        var isOver = ended.wait(timeout: .now() + Self.patience) == .success
        if !isOver {
            served.rescue(now: MonotonicClock.now(), after: 0)
            isOver = ended.wait(timeout: .now() + Self.patience) == .success
        }
        if isOver {
            ended.signal()
        } else {
            inbox.withLock { $0.isRunning = false }
        }
    }

    /// How long the thread may take to answer, seconds.
    private static let patience = 1.0

    // MARK: From any thread

    /// Takes a fleet's requests.
    ///
    /// - Parameters:
    ///   - fleet: its place.
    ///   - epoch: of `begin`; requests of another are forgotten.
    package func ask(_ requests: [EchoRequest], fleet: Int, epoch: UInt32) {
        let isFirst = inbox.withLock { inbox in
            guard inbox.isRunning else {
                if epoch == inbox.epoch {
                    for request in requests { inbox.books.made(request.kind, at: madeAt(request)) }
                }
                return false
            }
            let isFirst = inbox.asked.isEmpty && inbox.commands.isEmpty
            for request in requests {
                inbox.asked.append(Asked(request: request, fleet: UInt32(fleet), epoch: epoch))
            }
            return isFirst
        }
        if isFirst { wakeUp.signal() } else { served.rescue(now: MonotonicClock.now()) }
    }

    /// Begins anew: forgets all requests and counts, and takes those of `epoch` only from now on.
    package func begin(epoch: UInt32) {
        let done = DispatchSemaphore(value: 0)
        let isRunning = inbox.withLock { inbox in
            inbox.epoch = epoch
            inbox.books = EchoBooks()
            if inbox.isRunning { inbox.commands.append(.begin(epoch: epoch, done)) }
            return inbox.isRunning
        }
        guard isRunning else { return }
        wakeUp.signal()
        if done.wait(timeout: .now() + Self.patience) == .success { return }
        served.rescue(now: MonotonicClock.now())
    }

    /// Of this moment; of a little earlier where the thread is too busy to tell.
    package var figures: EchoFigures {
        let reply = Reply()
        let over: EchoBooks? = inbox.withLock { inbox in
            if inbox.isRunning { inbox.commands.append(.report(reply)) }
            return inbox.isRunning ? nil : inbox.books
        }
        if let over { return EchoFigures(url: url, books: over) }
        wakeUp.signal()
        guard reply.semaphore.wait(timeout: .now() + Self.patience) == .success else {
            served.rescue(now: MonotonicClock.now())
            return EchoFigures(url: url, books: inbox.withLock { $0.books })
        }
        return EchoFigures(url: url, books: reply.books.withLock { $0 })
    }

    /// Every request may take as long as the app may work.
    private func madeAt(_ request: EchoRequest) -> UInt64 {
        timeline.monotonic(request.deadline - min(request.deadline, DeviceModel.workLimit))
    }

    /// Between two times that the thread leaves its figures, ns.
    private static let pause: UInt64 = 500_000_000

    // MARK: The thread

    private func run(_ loop: EchoLoop, _ ended: @escaping Ended) {
        loop.tell = { ended($0.id, $0.fleet, $0.epoch, $0.ending, $0.time) }
        var asked: [Asked] = []
        var commands: [Command] = []
        var toldAt: UInt64 = 0
        while true {
            let now = MonotonicClock.now()
            let isStopping = inbox.withLock { inbox in
                swap(&asked, &inbox.asked)
                swap(&commands, &inbox.commands)
                if now - toldAt > Self.pause {
                    inbox.books = loop.books
                    toldAt = now
                }
                return inbox.isStopping
            }
            take(&asked, &commands, loop)
            if isStopping { break }
            loop.wait(until: loop.turn())
        }
        loop.end()
        // What is asked from now on is counted, and not done.
        var isOver = false
        while !isOver {
            take(&asked, &commands, loop)
            isOver = inbox.withLock { inbox in
                swap(&asked, &inbox.asked)
                swap(&commands, &inbox.commands)
                guard asked.isEmpty, commands.isEmpty else { return false }
                inbox.books = loop.books
                inbox.isRunning = false
                return true
            }
        }
    }

    private func take(_ asked: inout [Asked], _ commands: inout [Command], _ loop: EchoLoop) {
        for entry in asked {
            loop.take(
                entry.request, fleet: entry.fleet, epoch: entry.epoch, madeAt: madeAt(entry.request),
                deadline: timeline.monotonic(entry.request.deadline))
        }
        asked.removeAll(keepingCapacity: true)
        for command in commands {
            switch command {
            case .begin(let epoch, let done):
                loop.begin(epoch: epoch)
                done.signal()
            case .report(let reply):
                reply.books.withLock { $0 = loop.books }
                reply.semaphore.signal()
            }
        }
        commands.removeAll(keepingCapacity: true)
    }
}
