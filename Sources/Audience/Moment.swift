/// Moments as a registrations file has them: UNIX seconds, decimal, or RFC 3339 (`2026-01-31T12:00:00Z`).
enum Moment {
    /// 2106-02-07: moments are kept in 32 bits.
    static let latest: UInt64 = 0xFFFF_FFFE

    /// What is wrong with a text that is no moment.
    struct Problem: Error {
        let description: String
    }

    /// - Returns: UNIX seconds, whole (fractions are cut off), 0 to `latest`.
    static func seconds(_ base: UnsafePointer<UInt8>, _ count: Int) throws(Problem) -> UInt32 {
        if count > 0, count <= 20, (0..<count).allSatisfy({ isDigit(base[$0]) }) {
            var value: UInt64 = 0
            for index in 0..<count { value = value &* 10 &+ UInt64(base[index] &- 48) }
            guard count <= 18, value <= latest else {
                throw Problem(
                    description: "the moment \(text(base, count)) is after 2106; expected seconds since 1970"
                        + (count == 13 ? ", these look like milliseconds" : ""))
            }
            return UInt32(value)
        }
        guard let value = rfc3339(base, count) else {
            throw Problem(
                description:
                    "\"\(text(base, count))\" is no moment; expected seconds since 1970 or 2026-01-31T12:00:00Z")
        }
        guard value >= 0, value <= Int64(latest) else {
            throw Problem(description: "the moment \(text(base, count)) is not between 1970 and 2106")
        }
        return UInt32(value)
    }

    private static func text(_ base: UnsafePointer<UInt8>, _ count: Int) -> String {
        ByteText.shown(base, count)
    }

    @inline(__always)
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    /// RFC 3339, section 5.6: `date-time`; T and Z may be small, and T may be a space.
    private static func rfc3339(_ base: UnsafePointer<UInt8>, _ count: Int) -> Int64? {
        guard count >= 20, count <= 40 else { return nil }
        func number(_ at: Int, _ digits: Int) -> Int64? {
            guard at + digits <= count else { return nil }
            var value: Int64 = 0
            for index in at..<at + digits {
                guard isDigit(base[index]) else { return nil }
                value = value * 10 + Int64(base[index] - 48)
            }
            return value
        }
        guard let year = number(0, 4), base[4] == 0x2D, let month = number(5, 2), base[7] == 0x2D,
            let day = number(8, 2),
            [0x54, 0x74, 0x20].contains(base[10]), let hour = number(11, 2), base[13] == 0x3A,
            let minute = number(14, 2),
            base[16] == 0x3A, let second = number(17, 2), (1...12).contains(month), day >= 1,
            day <= daysInMonth(year, month), hour < 24, minute < 60, second <= 60
        else { return nil }
        var at = 19
        if base[at] == 0x2E {
            at += 1
            let fraction = at
            while at < count, isDigit(base[at]) { at += 1 }
            guard at > fraction, at < count else { return nil }
        }
        var offset: Int64 = 0
        switch base[at] {
        case 0x5A, 0x7A: at += 1
        case 0x2B, 0x2D:
            guard at + 6 <= count, let hours = number(at + 1, 2), base[at + 3] == 0x3A, let minutes = number(at + 4, 2),
                hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 3600 + minutes * 60) * (base[at] == 0x2D ? -1 : 1)
            at += 6
        default: return nil
        }
        guard at == count else { return nil }
        return days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
    }

    private static func daysInMonth(_ year: Int64, _ month: Int64) -> Int64 {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days from 1970-01-01 in the Gregorian calendar, counted in years that begin in March, so that the leap day is the last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let ofEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + dayOfYear - 719468
    }
}
