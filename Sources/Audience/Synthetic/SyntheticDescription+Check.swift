import Settings

extension SyntheticDescription {
    /// How many rows there are.
    var rowCount: UInt64 {
        switch amount {
        case .rows(let count): count
        case .users(let count): blocks.rows(ofUsers: count)
        }
    }

    var blocks: UserBlocks {
        UserBlocks(devicesPerUser.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, seed: seed)
    }

    /// What makes it impossible, whoever wrote it; nil when it is sound.
    var problem: String? {
        func isWrong(_ shares: [Double], whole: Bool) -> Bool {
            let sum = shares.reduce(0, +)
            return !shares.allSatisfy { $0 >= 0 && $0 <= 1.000_001 } || !(sum <= 1.000_001)
                || (whole && !shares.isEmpty && sum < 0.999_999)
        }
        let wholes = [("topic", topics), ("environment", environments)]
        if let wrong = wholes.first(where: { isWrong($0.1.map(\.share), whole: true) }) {
            return "the shares of \"\(wrong.0)\" do not add up to 100%"
        }
        guard !devicesPerUser.isEmpty, !isWrong(Array(devicesPerUser.values), whole: true),
            devicesPerUser.keys.allSatisfy({ (1...UserBlocks.mostDevices).contains($0) })
        else { return "\"devices_per_user\" is no distribution over 1 to \(UserBlocks.mostDevices)" }
        if ([languages] + choices).contains(where: { isWrong($0.map(\.share), whole: false) }) {
            return "the shares of \"languages\" or \"choices\" add up to more than 100%"
        }
        if !tags.allSatisfy({ $0.share >= 0 && $0.share <= 1 }) {
            return "a share of \"tags\" is not between 0 and 100%"
        }
        if let expiry, !(0...1).contains(expiry.share) || expiry.from > expiry.to {
            return "a share of \"expires\" that is not between 0 and 100%, or moments in the wrong order"
        }
        guard (1...Self.mostRows).contains(rowCount) else {
            return "\(rowCount) registrations; expected 1 to \(Self.mostRows)"
        }
        return tagProblem ?? textProblem
    }

    private var tagProblem: String? {
        let all = allTags
        guard all.count <= Self.mostTags else { return "\(all.count) tags; expected at most \(Self.mostTags)" }
        var places: [String: Int] = [:]
        for (place, tag) in all.enumerated() {
            do { _ = try NamePattern.checked(tag) } catch { return error.description }
            guard places.updateValue(place, forKey: tag) == nil else { return "tag \"\(tag)\" is given twice" }
        }
        let mean = tags.reduce(Double(choices.count)) { $0 + $1.share }
        guard mean <= Self.mostTagsOnAverage else {
            return "\(Units.fixed(mean, places: 0)) tags a registration on average; expected at most "
                + Units.fixed(Self.mostTagsOnAverage, places: 0)
        }
        let firstTag = all.count - tags.count
        for correlation in correlations {
            guard let before = places[correlation.condition], let after = places[correlation.tag], before < after,
                after >= firstTag, correlation.times >= 0, correlation.times.isFinite
            else {
                return "a correlation of \"\(correlation.condition)\" with \"\(correlation.tag)\" that cannot be kept"
            }
        }
        let conditions = Set(correlations.map(\.condition)).count
        guard conditions <= Self.mostConditions else {
            return "correlations depend on \(conditions) tags; expected at most \(Self.mostConditions)"
        }
        return nil
    }

    /// Correlations that cannot be had in full, a line each: a tag is never oftener than always.
    package var notes: [String] {
        tags.flatMap { tag -> [String] in
            let all = correlations.filter { $0.tag == tag.text && $0.times > 1 }
            func percent(_ share: Double) -> String { Units.fixed(share * 100, places: 1) + " %" }
            let capped = all.filter { tag.share * $0.times > 1 }
            if capped.isEmpty, all.count > 1, all.reduce(tag.share, { $0 * $1.times }) > 1 {
                return [
                    "correlations: \(tag.text) would be above 100 % where several hold ("
                        + all.map(\.condition).joined(separator: ", ") + "), and is 100 % there"
                ]
            }
            return capped.map {
                "correlations: with \($0.condition) \(tag.text) would be \(percent(tag.share * $0.times)) "
                    + "(\(percent(tag.share)) times \(Units.fixed($0.times, places: 1))), and is 100 % there"
            }
        }
    }

    private var textProblem: String? {
        var texts = topics.map(\.text) + environments.map(\.text) + languages.map(\.text)
        switch templates {
        case .shares(let shares):
            if !shares.allSatisfy({ $0.share >= 0 }) || shares.reduce(0, { $0 + $1.share }) > 1.000_001 {
                return "the shares of \"templates\" are not between 0 and 100% together"
            }
            texts += shares.map(\.text)
        case .byLanguage(let pairs): texts += pairs.map(\.template)
        case nil: break
        }
        if let long = texts.first(where: { $0.isEmpty || $0.utf8.count > 8192 }) {
            return "a text of \(long.utf8.count) bytes; expected 1 to 8192"
        }
        return nil
    }
}
