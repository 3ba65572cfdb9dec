import Testing

@testable import Audience

@Suite("Descriptions of made-up registrations") struct SyntheticFileTests {
    private static let example = """
        seed: 7
        rows: 10k
        devices_per_user: {1: 70%, 2: 20%, 3: 10%}
        topic: {com.example.app: 90%, com.example.beta: 10%}
        environment: {production: 95%, development: 5%}
        languages: {en: 60%, es: 30%}
        language_tags: lang_
        choices:
          - {location_Boston: 20%, location_NewYork: 30%}
          - {of: "plan_{1...5}", zipf: 1.0, share: 90%}
          - {of: [red, green, "blue_{7...8}"]}
        tags:
          follows_RedSox: 8%
          beta_{1...3}: 2%
          tag_{1...200}: {zipf: 1.0, mean: 5}
        correlations:
          - {if: location_Boston, then: follows_RedSox, times: 5}
          - {if: beta_1, then: tag_9, times: 2.5}
        expires: {share: 2%, from: 2020-01-01T00:00:00Z, to: 1609459199}
        templates: {en: news_en, es: news_es}

        """

    @Test("Every key is read")
    func keys() throws {
        let read = try SyntheticFile.parse(Self.example, file: "d.yaml")
        #expect(read.seed == 7 && read.amount == .rows(10_000) && read.devicesPerUser == [1: 0.7, 2: 0.2, 3: 0.1])
        #expect(read.topics == [.init("com.example.app", 0.9), .init("com.example.beta", 0.1)])
        #expect(read.environments == [.init("production", 0.95), .init("development", 0.05)])
        #expect(read.languages == [.init("en", 0.6), .init("es", 0.3)] && read.languageTagPrefix == "lang_")
        #expect(read.choices[0] == [.init("location_Boston", 0.2), .init("location_NewYork", 0.3)])
        #expect(read.choices[1].map(\.text) == ["plan_1", "plan_2", "plan_3", "plan_4", "plan_5"])
        #expect(abs(read.choices[1].reduce(0) { $0 + $1.share } - 0.9) < 1e-9)
        #expect(abs(read.choices[1][0].share / read.choices[1][1].share - 2) < 1e-9)
        #expect(read.choices[2] == ["red", "green", "blue_7", "blue_8"].map { .init($0, 0.25) })
        #expect(read.tags.count == 204 && read.tags[3] == .init("beta_3", 0.02))
        #expect(abs(read.tags[4...].reduce(0) { $0 + $1.share } - 5) < 1e-9)
        #expect(
            read.correlations == [
                .init(condition: "location_Boston", tag: "follows_RedSox", times: 5),
                .init(condition: "beta_1", tag: "tag_9", times: 2.5),
            ])
        #expect(read.expiry == .init(share: 0.02, from: 1_577_836_800, to: 1_609_459_199))
        #expect(read.templates == .byLanguage([("en", "news_en"), ("es", "news_es")]))
    }

    @Test("What is not given is as it was, and correlations of tags that went away go with them")
    func onto() throws {
        let read = try SyntheticFile.parse("{rows: 5, tags: {a: 10%}}", file: "--set", onto: .standard)
        #expect(read.amount == .rows(5) && read.tags == [.init("a", 0.1)] && read.correlations.isEmpty)
        #expect(read.languages == SyntheticDescription.standard.languages)
        #expect(try SyntheticFile.parse("seed: 3", file: "x", onto: .standard).correlations.count == 1)
        #expect(SyntheticDescription.standard.problem == nil)
    }

    @Test(
        "What is wrong is said with its line and column and what would be right",
        arguments: [
            ("rows: 5\ntag: {}", "2:1: unknown key \"tag\"; did you mean \"tags\"?"),
            ("rows: 0", "1:7: rows: 0: expected 1 to 4294967294"),
            ("rows: 5G", "1:7: rows: 5000000000: expected 1 to 4294967294"),
            ("rows: 5\nusers: 3", "1:7: rows: \"rows\" and \"users\"; expected one of them"),
            (
                "devices_per_user:\n  0: 100%",
                "2:3: devices_per_user: \"0\" devices; expected a whole number from 1 to 100"
            ),
            ("devices_per_user: {1: 70%}", "1:19: devices_per_user: the shares add up to 70.0000%; expected 100%"),
            (
                "environment: {producton: 100%}",
                "1:15: environment: \"producton\" is not an environment; did you mean \"production\"?"
            ),
            (
                "languages: {en: 80%, de: 30%}",
                "1:12: languages: the shares add up to 110.0000%; expected at most 100%"
            ),
            (
                "tags:\n  follows RedSox: 8%",
                "2:3: tags: \"follows RedSox\": a control character or blank in a tag; "
                    + "expected letters, digits and _ @ # . : -"
            ),
            (
                "tags:\n  a: 120%",
                "2:6: tags.a: \"120%\" is not a share; expected for example 2% or 0.02, at most 100%"
            ),
            (
                "tags:\n  t_{1..5}: 2%",
                "2:3: tags: \"t_{1..5}\" is no family of tags; expected for example tag_{1...200}"
            ),
            ("tags:\n  t_{5...1}: 2%", "2:3: tags: \"t_{5...1}\": the lower number comes first"),
            ("tags:\n  t_{1...90000}: 2%", "2:3: tags: \"t_{1...90000}\": 90000 tags; expected at most 20000"),
            ("tags:\n  t_{1...5}: 2%\n  t_3: 1%", "3:3: tags: tag \"t_3\" is given twice"),
            ("choices: [{a: 10%}]\ntags: {a: 1%}", "2:8: tags: tag \"a\" is given twice"),
            (
                "tags:\n  t_{1...5}: {mean: 6}",
                "2:21: tags.t_{1...5}.mean: 5 tags; expected at most so many a device on average"
            ),
            ("tags:\n  t_{1...5}: {zipf: 1}", "2:14: tags.t_{1...5}: \"mean\" is missing"),
            (
                "choices: [{of: \"a_{1...3}\", zipf: 11}]",
                "1:35: choices[0].zipf: expected an exponent from 0 to 10, as in zipf: 1.0"
            ),
            (
                "choices: [{location_Boston: 10%}]\ntags: {a: 1%}\ncorrelations: [{if: location_Bostn, then: a, times: 2}]",
                "3:21: correlations[0].if: unknown tag \"location_Bostn\"; did you mean \"location_Boston\"?"
            ),
            (
                "choices: [{b: 10%}]\ntags: {a: 1%}\ncorrelations: [{if: a, then: b, times: 2}]",
                "3:30: correlations[0].then: \"b\" is a choice; expected one of \"tags\", which come by themselves"
            ),
            (
                "tags: {a: 1%, b: 1%}\ncorrelations: [{if: b, then: a, times: 2}]",
                "2:21: correlations[0].if: \"if\" has to be given before \"then\" in \"tags\""
            ),
            (
                "tags: {a: 1%, b: 1%}\ncorrelations: [{if: a, then: b, times: -2}]",
                "2:40: correlations[0].times: \"-2\": expected a number from 0 on"
            ),
            (
                "expires: {share: 5%, from: yesterday, to: 5}",
                "1:28: expires.from: \"yesterday\" is no moment; expected seconds since 1970 or 2026-01-31T12:00:00Z"
            ),
            (
                "expires: {share: 5%, from: 6, to: 5}",
                "1:35: expires.to: before \"from\"; the earlier moment comes first"
            ),
            (
                "languages: {en: 50%}\ntemplates: {fr: x}",
                "2:13: templates: unknown language \"fr\"; expected one of en"
            ),
            ("tags: {\"t_{1...501}\": 100%}", "1:1: 501 tags a registration on average; expected at most 500"),
            ("", " the file is empty"),
        ])
    func broken(_ text: String, _ expected: String) {
        do {
            let read = try SyntheticFile.parse(text, file: "d.yaml")
            Issue.record("no error: \(read)")
        } catch { #expect(error.description == "d.yaml:" + expected) }
    }

    @Test(
        "Correlations that would need more than always are said",
        arguments: [
            ("a: 20%, b: 20%", "{if: a, then: b, times: 5}", nil),
            (
                "a: 20%, b: 30%", "{if: a, then: b, times: 5}",
                "with a b would be 150.0 % (30.0 % times 5.0), and is 100 % there"
            ),
            ("a: 20%, b: 30%", "{if: a, then: b, times: 0}", nil),
            (
                "a: 20%, c: 10%, b: 20%", "{if: a, then: b, times: 4}, {if: c, then: b, times: 3}",
                "b would be above 100 % where several hold (a, c), and is 100 % there"
            ),
        ])
    func capped(tags: String, correlations: String, note: String?) throws {
        let read = try SyntheticFile.parse(
            "{rows: 5, tags: {\(tags)}, correlations: [\(correlations)]}", file: "d.yaml")
        #expect(read.notes == (note.map { ["correlations: \($0)"] } ?? []))
        #expect(SyntheticDescription.standard.notes.isEmpty)
    }

    @Test("A description made in code is checked as well")
    func inCode() {
        var description = SyntheticDescription()
        description.tags = [.init("a b", 0.1)]
        #expect(throws: AudienceError.self) { try SyntheticRegistrations(description, format: .csv) }
        description.tags = [.init("a", .nan)]
        #expect(throws: AudienceError.self) { try SyntheticRegistrations(description, format: .csv) }
        description.tags = []
        description.amount = .users(.max)
        #expect(throws: AudienceError.self) { try SyntheticRegistrations(description, format: .csv) }
        description.amount = .rows(UInt64(UInt32.max))
        #expect(throws: AudienceError.self) { try SyntheticRegistrations(description, format: .csv) }
    }
}
