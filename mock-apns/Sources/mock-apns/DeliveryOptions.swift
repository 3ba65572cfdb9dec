import ArgumentParser
import Devices
import Measurement
import MockAPNs
import Payloads
import Settings

/// Which devices there are, and how pushes get to them.
struct DeliveryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only the first so many devices of --device-seed are registered. Default: every well-formed token.",
            valueName: "count"))
    var devices: String?

    @Option(help: ArgumentHelp("Seed of the device population, and of what is drawn by device.", valueName: "seed"))
    var deviceSeed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "Registered devices: a token a line, or CSV whose header line names token, and as wanted topic, environment, state, since.",
            valueName: "file"))
    var deviceFile: String?

    @Option(
        help: ArgumentHelp(
            "This share of the devices belongs to the development environment, the others to production. Default: each to both.",
            valueName: "share"))
    var developmentDevices: String?

    @Option(
        help: ArgumentHelp(
            "Devices that become unregistered while the mock runs, and by when: 1%/60s.", valueName: "share/duration"))
    var unregister: String?

    @Option(
        help: ArgumentHelp(
            "This share of the devices is offline; with a duration, each comes back within it: 10%/30s.",
            valueName: "share[/duration]"))
    var offline: String?

    @Flag(help: "A device is there only while an event stream of it is attached (GET /events?token=…).")
    var onlineByAttachment = false

    @Option(
        name: .customLong("priority-5-interval"),
        help: ArgumentHelp("Deliver pushes of priority 5 together, so often. Default: at once.", valueName: "duration"))
    var priority5Interval = "0s"

    @Option(
        name: .customLong("priority-1-interval"),
        help: ArgumentHelp("The same for priority 1.", valueName: "duration"))
    var priority1Interval = "0s"

    @Option(
        help: ArgumentHelp(
            "Background pushes an hour that a device gets of an app; more are held back. Default: no limit.",
            valueName: "count"))
    var backgroundPerHour: String?

    @Option(
        help: ArgumentHelp(
            "Pushes a device token may get, more are answered 429 TooManyRequests: 3/1s. Default: no limit.",
            valueName: "count/duration"))
    var perDevice: String?

    @Option(
        help: ArgumentHelp(
            "Pushes that wait for devices that are offline, or held back for their priority, of all namespaces; beyond it 500 InternalServerError.",
            valueName: "count"))
    var storeCapacity = "1M"

    @Option(
        help: ArgumentHelp(
            "What devices do with pushes: on, the bundled model, or a file of one (YAML; docs/devices.md). What they fetch comes from --device-backend. Default: nothing.",
            valueName: "on|file"))
    var deviceModel: String?

    @Option(
        help: ArgumentHelp(
            "Write what became of each push at its device to this file, with the times (docs/devices.md).",
            valueName: "file"))
    var deviceLog: String?

    @Option(
        name: .customLong("broadcast-topic"),
        help: ArgumentHelp(
            "Bundle id with broadcast enabled; may be given several times. Default: all.", valueName: "id"))
    var broadcastTopics: [String] = []

    @Option(help: ArgumentHelp("Channels an app may have in an environment.", valueName: "count"))
    var channelLimit = "10k"

    func apply(to configuration: inout MockConfiguration) throws {
        if let devices {
            guard deviceFile == nil else { throw Misuse("--devices and --device-file exclude each other") }
            let count = try reading("--devices", devices, Units.count)
            configuration.population = .synthetic(SyntheticDevices(seed: deviceSeed, count: count))
        } else if let deviceFile {
            configuration.population = .file(try DeviceRegister(path: deviceFile, rules: configuration.rules))
        }
        if let developmentDevices {
            configuration.developmentShare = try reading("--development-devices", developmentDevices, Units.share)
        }
        if let unregister {
            let (share, time) = try shareAndTime(unregister, "--unregister", needsTime: true)
            configuration.decay = .init(share: share, within: time ?? 0)
        }
        var delivery = DeliverySettings()
        delivery.seed = deviceSeed
        if let offline { (delivery.offlineShare, delivery.offlineWithin) = try shareAndTime(offline, "--offline") }
        delivery.onlineByAttachment = onlineByAttachment
        delivery.priority5Interval = try reading("--priority-5-interval", priority5Interval, Units.duration)
        delivery.priority1Interval = try reading("--priority-1-interval", priority1Interval, Units.duration)
        if let backgroundPerHour {
            delivery.backgroundPerHour = try count("--background-per-hour", backgroundPerHour, 0...1_000_000_000)
        }
        if let perDevice {
            let parts = perDevice.split(separator: "/").map(String.init)
            guard parts.count == 2, let count = Int(parts[0]), count > 0 else {
                throw Misuse("--per-device \(perDevice): expected a number and a time, as in 3/1s")
            }
            delivery.perDeviceLimit = count
            delivery.perDevicePeriod = try reading("--per-device", parts[1], Units.duration)
        }
        delivery.storeCapacity = Int(try reading("--store-capacity", storeCapacity, Units.count))
        configuration.delivery = delivery
        if let deviceModel { try apply(deviceModel, to: &configuration) }
        if let deviceLog {
            guard deviceModel != nil else { throw Misuse("--device-log needs --device-model") }
            try checkOutput("--device-log", deviceLog)
            configuration.deviceLog = DeviceLogWriter(deviceLog, names: DeviceOutcome.allCases.map(\.name))
        }
        if !broadcastTopics.isEmpty {
            configuration.broadcastTopics = try bundleIDs("--broadcast-topic", broadcastTopics)
        }
        configuration.channelLimit = try count("--channel-limit", channelLimit, 0...1_000_000_000)
    }

    /// The model says for itself who is offline and what is held back.
    private func apply(_ deviceModel: String, to configuration: inout MockConfiguration) throws {
        for (flag, isGiven) in [
            ("--offline", offline != nil), ("--online-by-attachment", onlineByAttachment),
            ("--priority-5-interval", configuration.delivery.priority5Interval > 0),
            ("--priority-1-interval", configuration.delivery.priority1Interval > 0),
            ("--background-per-hour", backgroundPerHour != nil),
        ] where isGiven {
            throw Misuse("\(flag) and --device-model exclude each other: the model says what is stored and held back")
        }
        guard !deviceModel.isEmpty else { throw Misuse("--device-model: expected on or a file, not an empty text") }
        let model = try DeviceModelFile.named(deviceModel)
        if model.development > 0 {
            guard developmentDevices == nil else {
                throw Misuse("--development-devices and \"development\" in \(deviceModel) exclude each other")
            }
            configuration.developmentShare = model.development
        }
        configuration.deviceModel = model
    }

    private func shareAndTime(
        _ text: String, _ flag: String, needsTime: Bool = false
    ) throws(Misuse) -> (Double, UInt64?) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let share = try reading(flag, parts[0], Units.share)
        guard parts.count == 2 else {
            if needsTime { throw Misuse("\(flag) \(text): expected a share and a time, as in 1%/60s") }
            return (share, nil)
        }
        return (share, try reading(flag, parts[1], Units.duration))
    }
}
