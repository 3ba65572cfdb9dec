import ArgumentParser

/// What is sent, how fast, and over how many connections. Each flag is the `ScenarioKey` of its name.
package struct LoadOptions: ParsableArguments {
    package init() {}

    @Option(name: .customLong("rate"), help: .of("rate", "rate"))
    package var rate: String?

    @Option(name: [.customShort("c"), .customLong("connections")], help: .of("connections", "count"))
    package var connections: String?

    @Option(name: [.customShort("m"), .customLong("streams")], help: .of("streams", "count"))
    package var streams: String?

    @Option(name: [.customShort("t"), .customLong("threads")], help: .of("threads", "count"))
    package var threads: String?

    @Option(name: .customLong("pin"), help: .of("pin", "cores"))
    package var pin: String?

    @Option(name: .customLong("arrivals"), help: .of("arrivals", "text"))
    package var arrivals: String?

    @Option(name: .customLong("backlog"), help: .of("backlog", "count"))
    package var backlog: String?

    @Option(name: .customLong("pacing"), help: .of("pacing", "how"))
    package var pacing: String?

    @Option(name: .customLong("profile"), help: .of("profile", "text"))
    package var profile: String?

    @Option(name: .customLong("template"), help: .of("template", "file"))
    package var template: String?

    @Option(name: .customLong("push-type"), help: .of("push_type", "text"))
    package var pushType: String?

    @Option(name: .customLong("devices"), help: .of("devices", "count"))
    package var devices: String?

    @Option(name: .customLong("device-file"), help: .of("device_file", "file"))
    package var deviceFile: String?

    @Option(name: .customLong("registrations"), help: .of("registrations", "file"))
    package var registrations: String?

    @Option(name: .customLong("audience"), help: .of("audience", "expression"))
    package var audience: String?

    @Option(name: .customLong("environment"), help: .of("environment"))
    package var environment: String?

    @Option(name: .customLong("templates"), help: .of("templates", "path"))
    package var templates: String?

    @Option(name: .customLong("property"), help: .of("properties", "name=value"))
    package var properties: [String] = []

    @Flag(name: .customLong("feedback"), inversion: .prefixedNo, help: .of("feedback"))
    package var feedback: Bool?

    @Option(name: .customLong("send"), help: .of("sends", "map"))
    package var sends: [String] = []

    @Option(name: .customLong("topic"), help: .of("topic", "text"))
    package var topic: String?

    @Option(name: .customLong("priority"), help: .of("priority", "number"))
    package var priority: String?

    @Option(name: .customLong("expiration"), help: .of("expiration", "number"))
    package var expiration: String?

    @Option(name: .customLong("collapse-id"), help: .of("collapse_id", "text"))
    package var collapseID: String?

    @Flag(name: .customLong("apns-id"), inversion: .prefixedNo, help: .of("apns_id"))
    package var apnsID: Bool?

    @Option(name: .customLong("seed"), help: .of("seed", "count"))
    package var seed: String?

    @Option(name: .customLong("expect-reasons"), help: .of("expect_reasons"))
    package var expectReasons: [String] = []

    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] {
        [
            ("connections", connections.map { [$0] }),
            ("streams", streams.map { [$0] }),
            ("threads", threads.map { [$0] }),
            ("pin", pin.map { [$0] }),
            ("rate", rate.map { [$0] }),
            ("arrivals", arrivals.map { [$0] }),
            ("backlog", backlog.map { [$0] }),
            ("pacing", pacing.map { [$0] }),
            ("profile", profile.map { [$0] }),
            ("template", template.map { [$0] }),
            ("push_type", pushType.map { [$0] }),
            ("devices", devices.map { [$0] }),
            ("device_file", deviceFile.map { [$0] }),
            ("registrations", registrations.map { [$0] }),
            ("audience", audience.map { [$0] }),
            ("environment", environment.map { [$0] }),
            ("templates", templates.map { [$0] }),
            ("properties", properties.isEmpty ? nil : properties),
            ("sends", sends.isEmpty ? nil : sends),
            ("feedback", feedback.map { [String($0)] }),
            ("topic", topic.map { [$0] }),
            ("priority", priority.map { [$0] }),
            ("expiration", expiration.map { [$0] }),
            ("collapse_id", collapseID.map { [$0] }),
            ("apns_id", apnsID.map { [String($0)] }),
            ("seed", seed.map { [$0] }),
            ("expect_reasons", expectReasons.isEmpty ? nil : expectReasons),
        ]
    }
}
