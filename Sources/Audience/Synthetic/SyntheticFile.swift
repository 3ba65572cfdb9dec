import Settings

/// Reads what made-up registrations are like from YAML:
///
///     seed: 7
///     rows: 10M                         # or users: 7M
///     devices_per_user: {1: 70%, 2: 20%, 3: 10%}
///     topic: com.example.app            # or {com.example.app: 90%, com.example.beta: 10%}
///     environment: {production: 95%, development: 5%}
///     languages: {en: 60%, es: 30%}     # the others have none
///     language_tags: lang_              # a language is a tag too: lang_en
///     choices:                          # of each group a user has one tag
///       - {location_Boston: 20%, location_NewYork: 30%}
///       - {of: "plan_{1...5}", zipf: 1.0, share: 90%}
///     tags:                             # of each device, independent of one another
///       follows_RedSox: 8%
///       tag_{1...200}: {zipf: 1.0, mean: 5}
///     correlations:
///       - {if: location_Boston, then: follows_RedSox, times: 5}
///     expires: {share: 2%, from: 2020-01-01T00:00:00Z, to: 2020-12-31T23:59:59Z}
///     templates: {news: 50%, sport: 30%}  # or by language: {en: news_en, es: news_es}
package enum SyntheticFile {
    /// Bytes of the longest file.
    private static let longest = 4 << 20

    /// - Throws: `cannot read …`, or `file:line:column: …`
    package static func read(_ path: String) throws(AudienceError) -> SyntheticDescription {
        let text: String
        do { text = try FileContents.text(path, "description of registrations", limit: longest) } catch {
            throw AudienceError(error.description)
        }
        return try parse(text, file: path)
    }

    /// - Parameters:
    ///   - file: its name, for messages.
    ///   - base: what the keys that are not given keep.
    /// - Throws: `file:line:column: …`
    package static func parse(
        _ text: String, file: String, onto base: SyntheticDescription = SyntheticDescription()
    ) throws(AudienceError) -> SyntheticDescription {
        do {
            var reader = SyntheticReader(base)
            try reader.read(try YAMLValue(parsing: text, file: file))
            return reader.description
        } catch { throw AudienceError(error.description) }
    }
}

/// Fills a description from YAML, key by key.
struct SyntheticReader {
    var description: SyntheticDescription

    init(_ base: SyntheticDescription) { description = base }

    mutating func read(_ value: YAMLValue) throws(SettingsError) {
        var map = try value.map()
        if let seed = map.take("seed") { description.seed = try seed.count() }
        try amount(rows: map.take("rows"), users: map.take("users"))
        if let devices = map.take("devices_per_user") { description.devicesPerUser = try Self.devices(devices) }
        if let topic = map.take("topic") {
            description.topics = topic.isMap ? try Self.shares(topic, whole: true) : [.init(try topic.text(), 1)]
            for topic in description.topics where !Self.isName(topic.text) {
                throw value.error(
                    "topic \"\(NamePattern.shown(topic.text))\": expected letters, digits, dots and hyphens")
            }
        }
        if let environment = map.take("environment") { description.environments = try Self.environments(environment) }
        if let languages = map.take("languages") {
            description.languages = try Self.shares(languages, whole: false)
            for entry in try languages.map().entries { _ = try entry.key.reading(NamePattern.checked) }
        }
        if let prefix = map.take("language_tags") {
            description.languageTagPrefix = try prefix.reading(NamePattern.checked)
        }
        let (choices, tags, correlations) = (map.take("choices"), map.take("tags"), map.take("correlations"))
        try self.tags(choices: choices, tags: tags)
        if let correlations {
            description.correlations = try correlations.list().map { (entry) throws(SettingsError) in
                try correlation(entry)
            }
        } else {
            let known = Set(description.allTags)
            description.correlations.removeAll { !known.contains($0.condition) || !known.contains($0.tag) }
        }
        if let expires = map.take("expires") { description.expiry = try Self.expiry(expires) }
        if let templates = map.take("templates") { description.templates = try self.templates(templates) }
        try map.finish()
        if let problem = description.problem { throw value.error(problem) }
    }

    private mutating func amount(rows: YAMLValue?, users: YAMLValue?) throws(SettingsError) {
        if let rows, users != nil { throw rows.error("\"rows\" and \"users\"; expected one of them") }
        guard let value = rows ?? users else { return }
        let count = try value.count()
        guard (1...SyntheticDescription.mostRows).contains(count) else {
            throw value.error("\(count): expected 1 to \(SyntheticDescription.mostRows)")
        }
        description.amount = rows == nil ? .users(count) : .rows(count)
    }

    private static func devices(_ value: YAMLValue) throws(SettingsError) -> [Int: Double] {
        var devices: [Int: Double] = [:]
        for entry in try value.map().entries {
            guard let number = Int(entry.name), (1...UserBlocks.mostDevices).contains(number) else {
                throw entry.key.error(
                    "\"\(NamePattern.shown(entry.name))\" devices; "
                        + "expected a whole number from 1 to \(UserBlocks.mostDevices)"
                )
            }
            devices[number] = try entry.value.share()
        }
        try checkSum(devices.values.reduce(0, +), value, whole: true)
        return devices
    }

    static func shares(_ value: YAMLValue, whole: Bool) throws(SettingsError) -> [SyntheticDescription.Share] {
        var shares: [SyntheticDescription.Share] = []
        for entry in try value.map().entries { shares.append(.init(entry.name, try entry.value.share())) }
        try checkSum(shares.reduce(0) { $0 + $1.share }, value, whole: whole)
        return shares
    }

    static func checkSum(_ sum: Double, _ value: YAMLValue, whole: Bool) throws(SettingsError) {
        guard sum > 1.000_001 || (whole && sum < 0.999_999) else { return }
        let percent = Units.fixed(sum * 100, places: 4)
        throw value.error("the shares add up to \(percent)%; expected \(whole ? "" : "at most ")100%")
    }

    private static func isName(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count) && text.utf8.allSatisfy { ByteText.classes[Int($0)] & ByteText.name != 0 }
    }

    private static func environments(_ value: YAMLValue) throws(SettingsError) -> [SyntheticDescription.Share] {
        let names = ["production", "development"]
        let shares = value.isMap ? try Self.shares(value, whole: true) : [.init(try value.text(), 1)]
        let keys = value.isMap ? try value.map().entries.map(\.key) : [value]
        for (share, key) in zip(shares, keys) where !names.contains(share.text) {
            throw key.error(
                "\"\(NamePattern.shown(share.text))\" is not an environment"
                    + NearestName.hint(String(share.text.prefix(120)), among: names))
        }
        return shares
    }
}
