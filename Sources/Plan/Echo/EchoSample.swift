import Devices
import Statistics

/// The requests that some of a fan-out's devices make of their backend when each has been pushed once at the same moment: `DeviceFleet`
/// in virtual time, a backend that answers all of them, and nobody who does anything else.
struct EchoSample {
    struct Request: Equatable {
        /// From the push to the request, ns.
        var delay: UInt64
        /// Its place among the devices of the sample.
        var device: Int32
        var kind: EchoRequest.Kind
    }

    private(set) var devices = 0
    private(set) var requests: [Request] = []
    private var random: SplitMix

    /// How long is looked, ns: pushes are stored for 30 days at most.
    static let longest: UInt64 = 30 * 24 * 3_600_000_000_000
    /// A fleet of so many at a time.
    private static let batch = 20_000

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    /// Simulates more devices, up to `count` in all, or all there are.
    mutating func extend(to count: Int, _ question: EchoQuestion) {
        let count = min(count, Int(clamping: question.pushes.count))
        while devices < count { simulate(min(Self.batch, count - devices), question) }
    }

    private mutating func simulate(_ count: Int, _ question: EchoQuestion) {
        let begin = question.begin
        let fleet = DeviceFleet(question.model, seed: question.seed, sealingSeed: question.seed, startedAt: begin)
        var places: [DeviceKey: Int32] = [:]
        for place in devices..<(devices + count) {
            question.pushes.make(question.pushes.sequence(place), begin / 1_000_000_000) { push in
                if places[push.device] == nil { places[push.device] = Int32(clamping: place) }
                fleet.receive(push, at: begin)
            }
        }
        devices += count
        var answers = EventHeap()
        var waiting: [UInt64] = []
        var now: UInt64 = 0
        while true {
            while !fleet.requests.isEmpty {
                let asked = fleet.requests
                fleet.requests.removeAll(keepingCapacity: true)
                for request in asked {
                    requests.append(
                        Request(delay: now, device: places[request.device] ?? 0, kind: request.kind))
                    let time = min(question.backendTime.draw(&random), Double(Self.longest))
                    if time < 1 {
                        fleet.finished(request.id, .newData, at: begin + now)
                    } else {
                        answers.put(.answer, at: Double(now) + time, place: 0, head: Int32(clamping: waiting.count))
                        waiting.append(request.id)
                    }
                }
            }
            let due = fleet.nextDue.map { $0 - min($0, begin) } ?? .max
            let answered = answers.next.map { UInt64($0) } ?? .max
            let next = max(now, min(due, answered))
            guard next <= Self.longest else { return }
            now = next
            if answered <= due {
                fleet.finished(waiting[Int(answers.take().head)], .newData, at: begin + now)
            } else {
                fleet.advance(to: begin + now)
            }
        }
    }
}
