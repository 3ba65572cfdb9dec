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
        if hasUsers { try addUser(fields[.user], row) }
        if hasTopics {
            topics.append(try addName(fields[.topic], row, .topic, RegistrationRules.longestTopic, "a topic"))
        }
        let environment = fields[.environment]
        if environment.end > environment.start { try addEnvironment(environment, row) }
        _ = try addName(fields[.language], row, .language, RegistrationRules.longestLanguage, "a language")
        if hasTemplates { templates.append(try addTemplate(fields[.template], row)) }
        let expires = fields[.expires]
        if expires.end > expires.start { expiries.append(NumberPairs.pair(try moment(expires), row)) }
        if hasRegistered {
            let place = fields[.registered]
            registered.append(place.end > place.start ? try moment(place) : 0)
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
            guard end == place.end || base[end] == 0x3B else { throw wrongTagByte(end) }
            try addTag(start, end, row)
            count += 1
            guard count <= RegistrationRules.mostTags else { throw reader.error(start, "more than 1000 tags") }
            if end == place.end { return }
            start = end + 1
        }
    }

    private func addTagArray(_ place: Place, _ row: UInt32) throws(AudienceError) {
        guard place.end > place.start else { return }
        let base = reader.file.base
        var scan = JSONScan(base: base, position: place.start, end: place.end)
        var count = 0
        do throws(JSONScan.Problem) {
            scan.skipBlanks()
            guard scan.position < place.end else { return }
            while true {
                let tag = try scan.string()
                for at in tag.start..<tag.end where classes[Int(base[at])] & ByteText.tag == 0 { throw wrongByte(at) }
                do throws(AudienceError) { try addTag(tag.start, tag.end, row) } catch {
                    throw .init(position: -1, text: error.description)
                }
                count += 1
                guard count <= RegistrationRules.mostTags else {
                    throw JSONScan.Problem(position: tag.start, text: "more than 1000 tags")
                }
                scan.skipBlanks()
                if scan.position >= place.end { return }
                try scan.expect(0x2C, "a comma or ]")
                scan.skipBlanks()
            }
        } catch {
            throw error.position < 0 ? AudienceError(error.text) : reader.error(error.position, error.text)
        }
    }

    private func wrongByte(_ at: Int) -> JSONScan.Problem {
        .init(
            position: at,
            text: "character \(ByteText.shown(reader.file.base[at])) in a tag; expected letters, digits and _ @ # . : -"
        )
    }

    private func wrongTagByte(_ at: Int) -> AudienceError { reader.error(at, wrongByte(at).text) }

    @inline(__always)
    private func addTag(_ start: Int, _ end: Int, _ row: UInt32) throws(AudienceError) {
        let base = reader.file.base + start
        let length = end - start
        guard length > 0 else { throw reader.error(start, "an empty tag; expected 1 to 120 characters") }
        guard length <= RegistrationRules.longestTag else {
            throw reader.error(start, "a tag of \(length) characters; at most 120")
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
    private func addUser(_ place: Place, _ row: UInt32) throws(AudienceError) {
        users.append(IndexPlace.of(place.start, place.end))
        let length = place.end - place.start
        guard length > 0 else { return }
        guard length <= RegistrationRules.longestUser else {
            throw reader.error(
                place.start, "a user of \(length) characters; at most \(RegistrationRules.longestUser)")
        }
        let base = reader.file.base + place.start
        var good = ByteText.tag
        for index in 0..<length { good &= classes[Int(base[index])] }
        guard good != 0 else { throw wrongBytes(place, ByteText.tag, "a user", "letters, digits and _ @ # . : -") }
        let prefix = RegistrationRules.userPrefix.utf8CodeUnitCount
        memcpy(userTag + prefix, base, length)
        tagPairs.append(NumberPairs.pair(TagName.key(ByteHash.of(userTag, prefix + length)), row))
    }

    // MARK: Names and moments

    private func wrongBytes(_ place: Place, _ kind: UInt8, _ what: String, _ expected: String) -> AudienceError {
        let base = reader.file.base
        let at = (place.start..<place.end).first { classes[Int(base[$0])] & kind == 0 } ?? place.start
        return reader.error(at, "character \(ByteText.shown(base[at])) in \(what); expected \(expected)")
    }

    @inline(__always)
    private func addName(
        _ place: Place, _ row: UInt32, _ kind: IndexLayout.Kind, _ longest: Int, _ what: StaticString
    ) throws(AudienceError) -> UInt16 {
        let length = place.end - place.start
        if length == 0 { return IndexLayout.none }
        guard length <= longest else {
            throw reader.error(place.start, "\(what) of \(length) characters; at most \(longest)")
        }
        let base = reader.file.base + place.start
        var good = ByteText.name
        for index in 0..<length { good &= classes[Int(base[index])] }
        guard good != 0 else { throw wrongBytes(place, ByteText.name, "\(what)", "letters, digits and . - _") }
        return try number(base, length, row, kind, place.start)
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

    private func addEnvironment(_ place: Place, _ row: UInt32) throws(AudienceError) {
        let base = reader.file.base + place.start
        let length = place.end - place.start
        let isKnown =
            length == 10 && memcmp(base, "production", 10) == 0 || length == 11 && memcmp(base, "development", 11) == 0
        guard isKnown else {
            let text = ByteText.shown(base, length)
            throw reader.error(
                place.start,
                "unknown environment \"\(text)\"" + NearestName.hint(text, among: ["production", "development"]))
        }
        _ = try number(base, length, row, .environment, place.start)
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

    private func moment(_ place: Place) throws(AudienceError) -> UInt32 {
        do throws(Moment.Problem) {
            return try Moment.seconds(reader.file.base + place.start, place.end - place.start)
        } catch {
            throw reader.error(place.start, error.description)
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
