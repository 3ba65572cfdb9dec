import Settings

extension SyntheticReader {
    /// The groups of choices and the independent tags.
    mutating func tags(choices: YAMLValue?, tags: YAMLValue?) throws(SettingsError) {
        var named: Set<String> = []
        func take(_ names: [String], _ place: YAMLValue) throws(SettingsError) -> [String] {
            for name in names where !named.insert(name).inserted { throw place.error("tag \"\(name)\" is given twice") }
            return names
        }
        if choices != nil { description.choices = [] }
        if tags != nil { description.tags = [] }
        named.formUnion(description.allTags)
        for group in try choices?.list() ?? [] {
            var shares: [SyntheticDescription.Share] = []
            if try group.map().entries.contains(where: { $0.name == "of" }) {
                var map = try group.map()
                let names = try Self.members(try map.need("of"), take)
                let exponent =
                    try map.take("zipf").map { (value) throws(SettingsError) in try Self.exponent(value) } ?? 0
                let total = try map.take("share").map { (value) throws(SettingsError) in try value.share() } ?? 1
                try map.finish()
                shares = zip(names, Popularity.shares(names.count, exponent: exponent, total: total)).map {
                    .init($0, $1)
                }
            } else {
                for entry in try group.map().entries {
                    let names = try take(try entry.key.reading(NamePattern.names), entry.key)
                    let share = try entry.value.share()
                    shares += names.map { .init($0, share) }
                }
            }
            try Self.checkSum(shares.reduce(0) { $0 + $1.share }, group, whole: false)
            description.choices.append(shares)
        }
        for entry in try tags?.map().entries ?? [] {
            let names = try take(try entry.key.reading(NamePattern.names), entry.key)
            guard entry.value.isMap else {
                let share = try entry.value.share()
                description.tags += names.map { .init($0, share) }
                continue
            }
            var map = try entry.value.map()
            let exponent = try map.take("zipf").map { (value) throws(SettingsError) in try Self.exponent(value) } ?? 0
            let value = try map.need("mean")
            let mean = try value.reading(Self.number)
            try map.finish()
            guard mean <= Double(names.count) else {
                throw value.error("\(names.count) tags; expected at most so many a device on average")
            }
            description.tags += zip(names, Popularity.independent(names.count, exponent: exponent, mean: mean))
                .map { .init($0, $1) }
        }
    }

    /// One family, or a list of names and families.
    private static func members(
        _ value: YAMLValue, _ take: ([String], YAMLValue) throws(SettingsError) -> [String]
    ) throws(SettingsError) -> [String] {
        var names: [String] = []
        for item in try value.oneOrMore() { names += try take(try item.reading(NamePattern.names), item) }
        return names
    }

    private static func number(_ text: String) throws(SettingsError) -> Double {
        guard let number = Double(text), number.isFinite, number >= 0, number <= 1e6 else {
            throw SettingsError("\"\(NamePattern.shown(text))\": expected a number from 0 on")
        }
        return number
    }

    private static func exponent(_ value: YAMLValue) throws(SettingsError) -> Double {
        let number = try value.reading(Self.number)
        guard number <= 10 else { throw value.error("expected an exponent from 0 to 10, as in zipf: 1.0") }
        return number
    }

    func correlation(_ value: YAMLValue) throws(SettingsError) -> SyntheticDescription.Correlation {
        var map = try value.map()
        let (condition, tag, times) = (try map.need("if"), try map.need("then"), try map.need("times"))
        try map.finish()
        let dependent = description.tags.map(\.text)
        let all = description.allTags
        for (name, known) in [(condition, all), (tag, dependent)] where !known.contains(try name.text()) {
            let text = try name.text()
            guard !all.contains(text) else {
                throw name.error("\"\(text)\" is a choice; expected one of \"tags\", which come by themselves")
            }
            let near =
                NearestName.of(String(text.prefix(120)), among: known).map { "; did you mean \"\($0)\"?" }
                ?? "; expected one given above"
            throw name.error("unknown tag \"\(NamePattern.shown(text))\"" + near)
        }
        guard let before = all.firstIndex(of: try condition.text()), let after = all.firstIndex(of: try tag.text()),
            before < after
        else { throw condition.error("\"if\" has to be given before \"then\" in \"tags\"") }
        let factor = try times.reading(Self.number)
        return .init(condition: all[before], tag: all[after], times: factor)
    }

    static func expiry(_ value: YAMLValue) throws(SettingsError) -> SyntheticDescription.Expiry {
        var map = try value.map()
        let share = try map.need("share").share()
        let (from, to) = (try map.need("from"), try map.need("to"))
        try map.finish()
        func moment(_ text: String) throws(SettingsError) -> UInt32 {
            let bytes = Array(text.utf8)
            do throws(Moment.Problem) { return try Moment.seconds(bytes, bytes.count) } catch {
                throw SettingsError(error.description)
            }
        }
        let expiry = SyntheticDescription.Expiry(
            share: share, from: try from.reading(moment), to: try to.reading(moment))
        guard expiry.from <= expiry.to else { throw to.error("before \"from\"; the earlier moment comes first") }
        return expiry
    }

    /// `{news: 50%}`, or `{en: news_en}` by language.
    func templates(_ value: YAMLValue) throws(SettingsError) -> SyntheticDescription.Templates {
        let languages = description.languages.map(\.text)
        let entries = try value.map().entries
        var texts: [String] = []
        for entry in entries { texts.append(try entry.value.text()) }
        guard let first = texts.first, (try? Units.share(first)) == nil else {
            return .shares(try Self.shares(value, whole: false))
        }
        for entry in entries where !languages.contains(entry.name) {
            throw entry.key.error(
                "unknown language \"\(NamePattern.shown(entry.name))\""
                    + NearestName.hint(String(entry.name.prefix(120)), among: languages)
            )
        }
        return .byLanguage(zip(entries, texts).map { ($0.name, $1) })
    }
}
