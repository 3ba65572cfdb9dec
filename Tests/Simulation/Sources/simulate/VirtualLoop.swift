import Networking

/// A thread's time and network. While it waits the scheduler turns the others.
final class VirtualLoop: EventLoop {
    private struct Registration {
        let descriptor: Int32
        let token: UInt64
        var interest: Readiness
    }

    private final class Place {
        weak var stream: VirtualStream?
        var isFree = false
    }

    private let world: World
    private var random: Random
    private let dial: (VirtualLoop) -> VirtualStream
    private var places: [Place] = []
    private var registrations: [Registration] = []
    private var ready: [ReadyEvent] = []
    /// Called as a wait begins, with when it would end.
    var willWait: ((UInt64) -> Void)?
    /// Lets the rest of the world go on until something is ready here, or that time has come; it may come back sooner.
    var sleep: ((UInt64) -> Void)?

    /// - Parameter dial: makes a connection's client end.
    init(world: World, random: Random, dial: @escaping (VirtualLoop) -> VirtualStream) {
        self.world = world
        self.random = random
        self.dial = dial
        super.init(wakeUp: WakeUp())
    }

    /// Descriptors held by streams that live.
    var openStreams: Int { places.count { !$0.isFree } }
    var registered: Int { registrations.count }

    // MARK: Descriptors: the lowest that is free, as the kernel gives them

    func takeDescriptor(for stream: VirtualStream) -> Int32 {
        let index = places.firstIndex { $0.isFree } ?? places.count
        if index == places.count { places.append(Place()) }
        places[index].isFree = false
        places[index].stream = stream
        return Int32(index)
    }

    func giveBack(_ descriptor: Int32) {
        world.check(!registrations.contains { $0.descriptor == descriptor }, "a closed descriptor is still registered")
        places[Int(descriptor)].isFree = true
    }

    // MARK: As an event loop

    override var now: UInt64 { world.clock.read() }
    override var unixMilliseconds: Int64 { world.clock.unixMilliseconds }

    override func add(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        world.check(!registrations.contains { $0.descriptor == descriptor }, "a descriptor is registered twice")
        registrations.append(Registration(descriptor: descriptor, token: token, interest: interest))
    }

    override func modify(_ descriptor: Int32, token: UInt64, interest: Readiness) {
        guard let place = registrations.firstIndex(where: { $0.descriptor == descriptor }) else {
            return world.fail("a descriptor is changed that is not registered")
        }
        registrations[place].interest = interest
    }

    override func remove(_ descriptor: Int32) {
        guard let place = registrations.firstIndex(where: { $0.descriptor == descriptor }) else {
            return world.fail("a descriptor is removed that is not registered")
        }
        registrations.remove(at: place)
        places[Int(descriptor)].stream?.wasLetGo()
    }

    private func readiness(_ registration: Registration) -> Readiness {
        guard let stream = places[Int(registration.descriptor)].stream else { return [] }
        return stream.readiness.intersection(registration.interest.union(.closed))
    }

    var isReady: Bool { registrations.contains { !readiness($0).isEmpty } }

    override func wait(timeout: UInt64?) -> Int {
        let end = timeout.map { world.clock.now &+ $0 } ?? .max
        willWait?(end)
        if end > world.clock.now, !isReady { sleep?(end) }
        ready = registrations.compactMap {
            let readiness = readiness($0)
            return readiness.isEmpty ? nil : ReadyEvent(token: $0.token, readiness: readiness)
        }
        // In any order, and perhaps not all at once.
        if ready.count > 1 {
            for place in ready.indices.dropLast() {
                ready.swapAt(place, place + random.below(ready.count - place))
            }
            if random.chance(0.1) { ready.removeLast(random.below(ready.count)) }
        }
        return ready.count
    }

    override func event(at index: Int) -> ReadyEvent { ready[index] }

    override func connect(
        to address: SocketAddress, serverName: String, tls: TLSContext?, options: SocketOptions, gathering: BufferPool?
    ) throws(NetworkError) -> ByteStream {
        dial(self)
    }
}
