import Payloads
import Scenarios

/// A scenario's pushes one by one as they would be sent, without sending any: for whoever wants to know what comes of them.
package final class PushSample {
    /// What a device is sent. The bytes are there during the call only.
    package struct Push {
        package let token: UnsafeRawBufferPointer
        /// Among synthetic devices; 0 for one of a file.
        package let device: UInt64
        package let type: PushType
        package let priority: Int
        package let collapseID: String?
        /// UNIX seconds.
        package let expiration: Int64?
        package let payload: UnsafeRawBufferPointer
    }

    /// How many pushes there are, each to another device or registration.
    package let count: UInt64
    private let headers: [PushHeaders]
    private let isSynthetic: Bool
    private let writers: PushWriters
    private let payload: UnsafeMutablePointer<UInt8>
    private let token: UnsafeMutablePointer<UInt8>

    /// - Throws: what is wrong with the scenario.
    package convenience init(_ scenario: Scenario) throws(HarnessError) {
        var scenario = scenario
        if scenario.pushes == nil, scenario.duration == nil, scenario.registrations == nil { scenario.pushes = 1 }
        self.init(try RunInputs(scenario))
    }

    init(_ inputs: RunInputs) {
        writers = PushWriters(inputs)
        headers = inputs.headers
        isSynthetic = if case .synthetic = inputs.population { true } else { false }
        count =
            isSynthetic && inputs.replay == nil ? inputs.population.count : inputs.planned ?? inputs.population.count
        payload = .allocate(capacity: writers.capacity)
        token = .allocate(capacity: inputs.population.longestToken)
    }

    deinit {
        payload.deallocate()
        token.deallocate()
    }

    /// Makes push `sequence`, below `count`.
    package func make(_ sequence: UInt64, unixTime: UInt64, _ body: (Push) -> Void) {
        let written = writers.write(sequence, unixTime: unixTime, into: .init(token: token, payload: payload))
        let headers = headers[written.headerSet]
        body(
            Push(
                token: UnsafeRawBufferPointer(start: token, count: written.token),
                device: isSynthetic ? written.device : 0,
                type: headers.pushType, priority: headers.priority, collapseID: headers.collapseID,
                expiration: headers.expiration, payload: UnsafeRawBufferPointer(start: payload, count: written.payload))
        )
    }
}
