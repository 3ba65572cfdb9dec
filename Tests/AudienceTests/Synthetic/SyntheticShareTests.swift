import Glibc
import Testing

@testable import Audience

@Suite("Made-up registrations have the shares that were asked for") struct SyntheticShareTests {
    private static let description: SyntheticDescription = {
        var description = SyntheticDescription.standard
        description.amount = .rows(50_000)
        description.seed = 42
        return description
    }()
    private static let rows = Result { try SyntheticRegistrations(description, format: .csv).rows() }

    /// Whether `found` of `count` is within six standard deviations of a binomial, where `together` draws are the same one.
    private func isNear(_ found: Int, _ share: Double, of count: Int, together: Double = 1) -> Bool {
        abs(Double(found) - share * Double(count))
            <= 6 * (share * (1 - share) * Double(count) * together).squareRoot() + 1
    }

    @Test("Tags, environments, languages and expiry come as often as asked for")
    func shares() throws {
        let rows = try Self.rows.get()
        let description = Self.description
        #expect(rows.count == 50_000)
        var counts: [String: Int] = [:]
        for row in rows { for tag in row.tags { counts[tag, default: 0] += 1 } }
        #expect(Set(counts.keys) == Set(description.allTags) && description.allTags.count == 200)
        for tag in description.tags where tag.text != "follows_RedSox" {
            #expect(isNear(counts[tag.text] ?? 0, tag.share, of: rows.count), "\(tag), found \(counts[tag.text] ?? 0)")
        }
        // What a user has, all the user's devices have: on average (0.7 + 0.2·4 + 0.1·9) / 1.4 of them.
        let together = 2.4 / 1.4
        for city in description.choices[0] {
            #expect(isNear(counts[city.text] ?? 0, city.share, of: rows.count, together: together), "\(city)")
        }
        for language in description.languages {
            let found = rows.count { $0.fields["language"] == language.text }
            #expect(isNear(found, language.share, of: rows.count, together: together), "\(language)")
            #expect(found == counts["lang_" + language.text])
        }
        #expect(isNear(rows.count { $0.fields["environment"] == "development" }, 0.05, of: rows.count))
        let moments = rows.compactMap { UInt32($0.fields["expires"] ?? "") }
        #expect(isNear(moments.count, 0.02, of: rows.count))
        #expect(moments.allSatisfy { (1_577_836_800...1_609_459_199).contains($0) })
        #expect(rows.allSatisfy { $0.fields["topic"] == "com.example.pushload" && $0.fields["token"]?.count == 64 })
    }

    @Test("Who is in Boston follows the Red Sox five times as often as others")
    func correlation() throws {
        let rows = try Self.rows.get()
        let boston = rows.filter { $0.tags.contains("location_Boston") }
        let others = rows.filter { !$0.tags.contains("location_Boston") }
        #expect(isNear(boston.count { $0.tags.contains("follows_RedSox") }, 0.4, of: boston.count))
        #expect(isNear(others.count { $0.tags.contains("follows_RedSox") }, 0.08, of: others.count))
    }

    @Test("A correlation is capped at 100 %, chains through tags given before, and can keep apart")
    func correlations() throws {
        var description = SyntheticDescription()
        description.amount = .rows(20_000)
        description.tags = [.init("a", 0.5), .init("b", 0.5), .init("c", 0.5), .init("d", 0.1)]
        description.correlations = [
            .init(condition: "a", tag: "b", times: 1000), .init(condition: "b", tag: "c", times: 0),
            .init(condition: "a", tag: "d", times: 2), .init(condition: "b", tag: "d", times: 3),
        ]
        let rows = try SyntheticRegistrations(description, format: .csv).rows()
        let withA = rows.filter { $0.tags.contains("a") }
        #expect(withA.allSatisfy { $0.tags.contains("b") })
        #expect(rows.allSatisfy { !($0.tags.contains("b") && $0.tags.contains("c")) })
        #expect(isNear(rows.count { !$0.tags.contains("b") && $0.tags.contains("c") }, 0.125, of: rows.count))
        #expect(isNear(withA.count { $0.tags.contains("d") }, 0.6, of: withA.count))
        let onlyB = rows.filter { $0.tags.contains("b") && !$0.tags.contains("a") }
        #expect(isNear(onlyB.count { $0.tags.contains("d") }, 0.3, of: onlyB.count))
    }

    @Test("A family is as popular as Zipf's law says, with its mean", arguments: [0.5, 1.0, 1.5])
    func zipf(_ exponent: Double) throws {
        let shares = Popularity.independent(100, exponent: exponent, mean: 2)
        var description = SyntheticDescription()
        description.amount = .rows(40_000)
        description.tags = shares.enumerated().map { .init("t\($0.offset + 1)", $0.element) }
        var counts = [Int](repeating: 0, count: 101)
        for row in try SyntheticRegistrations(description, format: .csv).rows() {
            for tag in row.tags { counts[Int(tag.dropFirst()) ?? 0] += 1 }
        }
        #expect(abs(Double(counts.reduce(0, +)) / 40_000 - 2) < 0.05)
        // The slope of log count over log rank, of those that are not rare.
        let points = (1...20).filter { shares[$0 - 1] < 1 }.map { (x: log(Double($0)), y: log(Double(counts[$0]))) }
        let (meanX, meanY) = (
            points.reduce(0) { $0 + $1.x } / Double(points.count), points.reduce(0) { $0 + $1.y } / Double(points.count)
        )
        let slope =
            points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) }
            / points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        #expect(abs(slope + exponent) < 0.06, "slope \(slope)")
    }

    @Test("No tag comes oftener than always, and the mean is kept", arguments: [0.0, 0.5, 5, 9.5, 10])
    func popularity(_ mean: Double) {
        for exponent in [0, 1, 3, 10.0] {
            let shares = Popularity.independent(10, exponent: exponent, mean: mean)
            #expect(shares.allSatisfy { (0...1).contains($0) })
            #expect(abs(shares.reduce(0, +) - mean) < 1e-9)
            #expect(zip(shares, shares.dropFirst()).allSatisfy { $0 >= $1 - 1e-12 })
        }
    }

    @Test("The devices of a user share language, city and user, and users have as many as asked for")
    func users() throws {
        let rows = try Self.rows.get()
        let byUser = Dictionary(grouping: rows) { $0.fields["user"] ?? "" }
        var devices: [Int: Int] = [:]
        for rows in byUser.values {
            devices[rows.count, default: 0] += 1
            #expect(Set(rows.map { $0.fields["language"] }).count == 1)
            #expect(Set(rows.map { $0.tags.filter { $0.hasPrefix("location_") } }).count == 1)
            #expect(rows[0].tags.count { $0.hasPrefix("location_") } == 1)
        }
        #expect(isNear(devices[1] ?? 0, 0.7, of: byUser.count))
        #expect(isNear(devices[2] ?? 0, 0.2, of: byUser.count))
        #expect(isNear(devices[3] ?? 0, 0.1, of: byUser.count))
        #expect(devices.keys.max() == 3)
    }

    @Test("Users asked for are users made, with all their devices")
    func userCount() throws {
        for count in [UInt64(1), 9_999, 10_000, 23_456] {
            var description = SyntheticDescription.standard
            description.amount = .users(count)
            let made = try SyntheticRegistrations(description, format: .csv)
            #expect(made.user(made.count - 1) == count - 1)
            #expect(made.user(made.count) == count)
        }
    }
}
