import Glibc
import Settings

/// What each field of a row has to be, and what of it the index keeps.
extension IndexBuilder {
    typealias Place = RegistrationFields.Place

    /// - Throws: what is wrong with the row.
    @inline(__always)
    func add(_ row: UInt32) throws(AudienceError) {
        let fields = reader.fields
        try addToken(fields[.token], row)
        let tagsPlace = fields[.tags]
        guard tagsPlace.end - tagsPlace.start <= IndexPlace.longest else {
            throw reader.error(tagsPlace.start, "more than 16 MiB of tags")
        }
        tags.append(IndexPlace.of(tagsPlace.start, tagsPlace.end))
        if reader.format == .csv { try addTags(tagsPlace, row) } else { try addTagArray(tagsPlace, row) }
        if hasUsers { try addUser(row) }
        if hasTopics { topics.append(try addName(.topic, row, RegistrationRules.longestTopic, "a topic")) }
        let environment = fields[.environment]
        if environment.end > environment.start {
            try withText(.environment) { (name) throws(AudienceError) in try addEnvironment(name, row) }
        }
        _ = try addName(.language, row, RegistrationRules.longestLanguage, "a language")
        if hasTemplates { templates.append(try addTemplate(fields[.template], row)) }
        let expires = fields[.expires]
        if expires.end > expires.start {
            expiries.append(NumberPairs.pair(try withText(.expires, moment), row))
        }
        if hasRegistered {
            let place = fields[.registered]
            registered.append(place.end > place.start ? try withText(.registered, moment) : 0)
        }
    }

    // MARK: Texts

    /// What a field says: where it stands in the file, or elsewhere without its escapes.
    struct Text {
        let base: UnsafePointer<UInt8>
        let length: Int
        /// Where it begins in the file.
        let at: Int
        var isPlain = true

        /// Where byte `index` stands in the file, for messages; of a text with escapes where it begins.
        func place(_ index: Int) -> Int { isPlain ? at + index : at }
    }

    /// - Parameter body: takes the field's text.
    @inline(__always)
    private func withText<Result>(
        _ column: RegistrationColumn, _ body: (Text) throws(AudienceError) -> Result
    ) throws(AudienceError) -> Result {
        let place = reader.fields[column]
        guard reader.fields.hasEscapes(column) else { return try body(text(place)) }
        return try withoutEscapes(place, "\(column)", body)
    }

    @inline(__always)
    private func text(_ place: Place) -> Text {
        Text(base: reader.file.base + place.start, length: place.end - place.start, at: place.start)
    }

    /// They are rare, so that they may cost an allocation.
    @inline(never)
    private func withoutEscapes<Result>(
        _ place: Place, _ what: String, _ body: (Text) throws(AudienceError) -> Result
    ) throws(AudienceError) -> Result {
        guard let bytes = JSONText.read(reader.file.base + place.start, place.end - place.start) else {
            throw reader.error(place.start, "an escape in \"\(what)\" that JSON does not have")
        }
        return try bytes.withUnsafeBufferPointer { (bytes) throws(AudienceError) in
            // It is not empty: an escape stands for something.
            try body(Text(base: bytes.baseAddress!, length: bytes.count, at: place.start, isPlain: false))
        }
    }

    @inline(__always)
    private func addToken(_ place: Place, _ row: UInt32) throws(AudienceError) {
        let base = reader.file.base + place.start
        let length = place.end - place.start
        var good = ByteText.hexadecimal
        for index in 0..<length { good &= classes[Int(base[index])] }
        guard good != 0, length > 0, length & 1 == 0, length <= RegistrationRules.longestToken else {
            throw wrongToken(place)
        }
        longestToken = max(longestToken, length)
        tokens.append(IndexPlace.of(place.start, place.end))
        tokenPairs.append(NumberPairs.pair(TokenGroups.hash(base, length), row))
    }

    private func wrongToken(_ place: Place) -> AudienceError {
        let base = reader.file.base
        let length = place.end - place.start
        if length == 0 { return reader.error(place.start, "no device token; expected hexadecimal digits") }
        for at in place.start..<place.end where classes[Int(base[at])] & ByteText.hexadecimal == 0 {
            return reader.error(
                at, "character \(ByteText.shown(base[at])) in a device token; expected hexadecimal digits")
        }
        return reader.error(
            place.start,
            "a device token of \(length) digits; expected an even number of at most 400 (64 today)")
    }

    // MARK: Tags

    @inline(__always)
    private func addTags(_ place: Place, _ row: UInt32) throws(AudienceError) {
        guard place.end > place.start else { return }
        let base = reader.file.base
        var start = place.start
        var count = 0
        while true {
            var end = start
            while end < place.end, classes[Int(base[end])] & ByteText.tag != 0 { end += 1 }
            guard end == place.end || base[end] == 0x3B else {
                throw wrongBytes(text(.init(start: start, end: end + 1)), ByteText.tag, "a tag", Self.tagLetters)
            }
            try addTag(text(.init(start: start, end: end)), row)
            count += 1
            guard count <= RegistrationRules.mostTags else { throw reader.error(start, "more than 1000 tags") }
            if end == place.end { return }
            start = end + 1
        }
    }

    /// - Parameter place: of what stands between the brackets.
    private func addTagArray(_ place: Place, _ row: UInt32) throws(AudienceError) {
        guard place.end > place.start else { return }
        // The closing bracket is there, and a tag that is missing is missing before it.
        var scan = JSONScan(base: reader.file.base, position: place.start, end: place.end + 1)
        scan.skipBlanks()
        if scan.take(0x5D) { return }
        var count = 0
        while true {
            let tag: JSONScan.Text
            do throws(JSONScan.Problem) { tag = try scan.string() } catch {
                throw reader.error(error.position, error.text)
            }
            let place = Place(start: tag.start, end: tag.end)
            if tag.hasEscapes {
                try withoutEscapes(place, "tags") { (text) throws(AudienceError) in try addCheckedTag(text, row) }
            } else {
                try addCheckedTag(text(place), row)
            }
            count += 1
            guard count <= RegistrationRules.mostTags else { throw reader.error(tag.start, "more than 1000 tags") }
            scan.skipBlanks()
            if scan.take(0x5D) { return }
            do throws(JSONScan.Problem) { try scan.expect(0x2C, "a comma or ]") } catch {
                throw reader.error(error.position, error.text)
            }
            scan.skipBlanks()
        }
    }

    private static let tagLetters = "letters, digits and _ @ # . : -"

    @inline(__always)
    private func addCheckedTag(_ tag: Text, _ row: UInt32) throws(AudienceError) {
        var good = ByteText.tag
        for index in 0..<tag.length { good &= classes[Int(tag.base[index])] }
        guard good != 0 else { throw wrongBytes(tag, ByteText.tag, "a tag", Self.tagLetters) }
        try addTag(tag, row)
    }

    @inline(__always)
    private func addTag(_ tag: Text, _ row: UInt32) throws(AudienceError) {
        let (base, length) = (tag.base, tag.length)
        guard length > 0 else { throw reader.error(tag.at, "an empty tag; expected 1 to 120 characters") }
        guard length <= RegistrationRules.longestTag else {
            throw reader.error(tag.at, "a tag of \(length) characters; at most 120")
        }
        let hash = ByteHash.of(base, length)
        // Tags of users are as many as users, and are not kept as names.
        if base[0] == 0x75, TagName.isUser(base, length) {
            tagPairs.append(NumberPairs.pair(TagName.key(hash), row))
        } else if let number = tagTable.number(base, length, hash: hash) {
            tagTable.add(row: row, to: number)
        } else {
            tagPairs.append(NumberPairs.pair(TagName.key(hash), row))
        }
    }

    @inline(__always)
    private func addUser(_ row: UInt32) throws(AudienceError) {
        let place = reader.fields[.user]
        users.append(IndexPlace.of(place.start, place.end))
        guard place.end > place.start else { return }
        try withText(.user) { (user) throws(AudienceError) in
            guard user.length <= RegistrationRules.longestUser else {
                throw reader.error(
                    user.at, "a user of \(user.length) characters; at most \(RegistrationRules.longestUser)")
            }
            var good = ByteText.tag
            for index in 0..<user.length { good &= classes[Int(user.base[index])] }
            guard good != 0 else { throw wrongBytes(user, ByteText.tag, "a user", Self.tagLetters) }
            let prefix = RegistrationRules.userPrefix.utf8CodeUnitCount
            memcpy(userTag + prefix, user.base, user.length)
            tagPairs.append(NumberPairs.pair(TagName.key(ByteHash.of(userTag, prefix + user.length)), row))
        }
    }

    // MARK: Names and moments

    private func wrongBytes(_ text: Text, _ kind: UInt8, _ what: String, _ expected: String) -> AudienceError {
        let at = (0..<text.length).first { classes[Int(text.base[$0])] & kind == 0 } ?? 0
        return reader.error(
            text.place(at), "character \(ByteText.shown(text.base[at])) in \(what); expected \(expected)")
    }

    /// - Returns: the name's number; `none` where there is no name.
    @inline(__always)
    private func addName(
        _ column: RegistrationColumn, _ row: UInt32, _ longest: Int, _ what: StaticString
    ) throws(AudienceError) -> UInt16 {
        let place = reader.fields[column]
        if place.end == place.start { return IndexLayout.none }
        let kind: IndexLayout.Kind = column == .topic ? .topic : .language
        return try withText(column) { (name) throws(AudienceError) in
            guard name.length <= longest else {
                throw reader.error(name.at, "\(what) of \(name.length) characters; at most \(longest)")
            }
            var good = ByteText.name
            for index in 0..<name.length { good &= classes[Int(name.base[index])] }
            guard good != 0 else { throw wrongBytes(name, ByteText.name, "\(what)", "letters, digits and . - _") }
            return try number(name.base, name.length, row, kind, name.at)
        }
    }

    @inline(__always)
    private func number(
        _ base: UnsafePointer<UInt8>, _ length: Int, _ row: UInt32, _ kind: IndexLayout.Kind, _ at: Int
    ) throws(AudienceError) -> UInt16 {
        let table = tables[kind.rawValue]
        guard let number = table.number(base, length, hash: ByteHash.of(base, length)) else {
            throw reader.error(at, "more than \(IndexLayout.mostNumbered) different \(kind)s in this file")
        }
        table.add(row: row, to: number)
        return UInt16(number)
    }

    private func addEnvironment(_ name: Text, _ row: UInt32) throws(AudienceError) {
        let isKnown =
            name.length == 10 && memcmp(name.base, "production", 10) == 0
            || name.length == 11 && memcmp(name.base, "development", 11) == 0
        guard isKnown else {
            let text = ByteText.shown(name.base, name.length)
            throw reader.error(
                name.at,
                "unknown environment \"\(text)\"" + NearestName.hint(text, among: ["production", "development"])
            )
        }
        _ = try number(name.base, name.length, row, .environment, name.at)
    }

    private func addTemplate(_ place: Place, _ row: UInt32) throws(AudienceError) -> UInt16 {
        let length = place.end - place.start
        if length == 0 { return IndexLayout.none }
        guard length <= RegistrationRules.longestTemplate else {
            throw reader.error(
                place.start, "a template of \(length) bytes; at most \(RegistrationRules.longestTemplate)")
        }
        let base = reader.file.base + place.start
        if reader.fields.template == .plain || reader.fields.template == .jsonObject {
            let isASCII = (0..<length).allSatisfy { base[$0] < 0x80 }
            guard isASCII || Self.isText(UnsafeBufferPointer(start: base, count: length)) else {
                throw reader.error(place.start, "a template that is not text in UTF-8")
            }
            return try number(base, length, row, .template, place.start)
        }
        guard let text = TemplateText.read(base, length, reader.fields.template) else {
            throw reader.error(place.start, "an escape in a template that JSON does not have")
        }
        guard text.withUnsafeBufferPointer(Self.isText) else {
            throw reader.error(place.start, "a template that is not text in UTF-8")
        }
        let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: text.count + 1)
        defer { buffer.deallocate() }
        for (index, byte) in text.enumerated() { buffer[index] = byte }
        return text.isEmpty ? IndexLayout.none : try number(buffer, text.count, row, .template, place.start)
    }

    private static func isText(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }

    private func moment(_ text: Text) throws(AudienceError) -> UInt32 {
        do throws(Moment.Problem) { return try Moment.seconds(text.base, text.length) } catch {
            throw reader.error(text.at, error.description)
        }
    }
}

/// A template's text from how it is written.
enum TemplateText {
    /// - Returns: nil where an escape is wrong.
    static func read(_ base: UnsafePointer<UInt8>, _ count: Int, _ writing: RegistrationFields.Writing) -> [UInt8]? {
        switch writing {
        case .plain, .jsonObject: return Array(UnsafeBufferPointer(start: base, count: count))
        case .jsonString: return JSONText.read(base, count)
        case .doubledQuotes:
            var result: [UInt8] = []
            var at = 0
            while at < count {
                result.append(base[at])
                at += base[at] == 0x22 ? 2 : 1
            }
            return result
        }
    }
}

/// Tags by name.
enum TagName {
    /// Whether it is `username:…`.
    @inline(__always)
    static func isUser(_ base: UnsafePointer<UInt8>, _ length: Int) -> Bool {
        let prefix = RegistrationRules.userPrefix
        return length > prefix.utf8CodeUnitCount && memcmp(base, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }

    /// What it is sorted by among the pairs.
    @inline(__always)
    static func key(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }
}
