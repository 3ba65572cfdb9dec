/// What made-up registrations are like: how many, who has how many devices, and which tags come how often.
package struct SyntheticDescription: Sendable, Equatable {
    /// A text, and the share of the registrations (or users) that have it, 0 to 1.
    package struct Share: Sendable, Equatable {
        package var text: String
        package var share: Double

        package init(_ text: String, _ share: Double) {
            self.text = text
            self.share = share
        }
    }

    package enum Amount: Sendable, Equatable {
        case rows(UInt64)
        case users(UInt64)
    }

    /// A correlation: who has tag `condition` has tag `tag` `times` as often as others, though never oftener than
    /// always. Others have it as often as its own share says, so that the share among all grows from p to p·(1 +
    /// q·(times − 1)), where q is the share of `condition`. Several for one tag are multiplied.
    package struct Correlation: Sendable, Equatable {
        package var condition: String
        package var tag: String
        package var times: Double
    }

    /// `share` of the registrations expire, at moments spread evenly over `from...to`, UNIX seconds.
    package struct Expiry: Sendable, Equatable {
        package var share: Double
        package var from: UInt32
        package var to: UInt32
    }

    package enum Templates: Sendable, Equatable {
        case shares([Share])
        /// By the device's language; other languages have none.
        case byLanguage([(language: String, template: String)])

        package static func == (left: Templates, right: Templates) -> Bool {
            switch (left, right) {
            case (.shares(let left), .shares(let right)): left == right
            case (.byLanguage(let left), .byLanguage(let right)): left.elementsEqual(right, by: ==)
            default: false
            }
        }
    }

    package var seed: UInt64 = 1
    package var amount = Amount.rows(1_000_000)
    /// Numbers of devices, and the share of the users that have so many; together 1.
    package var devicesPerUser: [Int: Double] = [1: 1]
    /// By device; together 1, or empty: no column.
    package var topics: [Share] = []
    /// By device; `production` and `development`; together 1, or empty: no column.
    package var environments: [Share] = []
    /// By user; together at most 1, others have none.
    package var languages: [Share] = []
    /// Before the language in a tag; nil: a language is no tag.
    package var languageTagPrefix: String?
    /// By user: of each group a user has at most one tag; the shares of a group are together at most 1.
    package var choices: [[Share]] = []
    /// By device, each independent of the others.
    package var tags: [Share] = []
    package var correlations: [Correlation] = []
    package var expiry: Expiry?
    package var templates: Templates?

    package init() {}

    /// Rows a registrations file can have.
    static let mostRows = UInt64(UInt32.max) - 1
    /// Tags a description can name, and those that one registration can have.
    static let mostTags = 20_000
    static let mostTagsOfRow = 1_000
    /// Tags that a registration has on average; far from `mostTagsOfRow`, where they would be cut off.
    static let mostTagsOnAverage = 500.0
    /// Tags that correlations may depend on.
    static let mostConditions = 64

    /// All tags, in the order in which a registration has them: the language's, the choices', the others.
    package var allTags: [String] {
        (languageTagPrefix.map { prefix in languages.map { prefix + $0.text } } ?? []) + choices.joined().map(\.text)
            + tags.map(\.text)
    }

    /// What `audience make` writes when nothing else is asked for: 200 tags.
    ///
    /// Ten million registrations; of the users 70 % have one device, 20 % two, 10 % three. Eight teams that 8 % to 2 %
    /// follow, eight cities that a user lives in one of, eight languages (tag and column), 176 tags by Zipf's law of
    /// which a device has five; 5 % development. 2 % expired in 2020. Who is in Boston follows the Red Sox five times
    /// as often.
    package static let standard: SyntheticDescription = {
        var description = SyntheticDescription()
        description.amount = .rows(10_000_000)
        description.devicesPerUser = [1: 0.7, 2: 0.2, 3: 0.1]
        description.topics = [Share("com.example.pushload", 1)]
        description.environments = [Share("production", 0.95), Share("development", 0.05)]
        let languages = ["en", "es", "de", "ja", "fr", "pt", "it", "ko"]
        description.languages = zip(languages, Popularity.shares(8, exponent: 1)).map { Share($0, $1) }
        description.languageTagPrefix = "lang_"
        let cities = ["Boston", "St.Louis", "NewYork", "Chicago", "LosAngeles", "Berlin", "Tokyo", "Lagos"]
        description.choices = [cities.map { Share("location_" + $0, 0.125) }]
        let teams: [(String, Double)] = [
            ("RedSox", 0.08), ("Cardinals", 0.07), ("Yankees", 0.06), ("Cubs", 0.05), ("Dodgers", 0.04),
            ("Giants", 0.03),
            ("Mets", 0.02), ("Braves", 0.02),
        ]
        description.tags = teams.map { Share("follows_" + $0, $1) }
        let popularity = Popularity.independent(176, exponent: 1, mean: 5)
        description.tags += popularity.enumerated().map { Share("tag_\($0.offset + 1)", $0.element) }
        description.correlations = [Correlation(condition: "location_Boston", tag: "follows_RedSox", times: 5)]
        // 2020-01-01 to 2020-12-31: they have expired whenever the file is used.
        description.expiry = Expiry(share: 0.02, from: 1_577_836_800, to: 1_609_459_199)
        return description
    }()
}
