import Testing

@testable import Audience

@Suite("Moments are seconds or RFC 3339") struct MomentTests {
    private func seconds(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBufferPointer { buffer in
            do throws(Moment.Problem) {
                return "\(try Moment.seconds(buffer.baseAddress!, buffer.count))"
            } catch {
                return error.description
            }
        }
    }

    @Test(
        "Moments are read as seconds or rfc 3339",
        arguments: [
            ("0", "0"), ("1767225600", "1767225600"), ("4294967294", "4294967294"),
            ("1970-01-01T00:00:00Z", "0"), ("2026-01-01T00:00:00Z", "1767225600"),
            ("2026-01-01t00:00:00.999z", "1767225600"),
            ("2024-02-29 12:30:15+02:00", "1709202615"), ("2024-02-29T12:30:15-05:30", "1709229615"),
            ("2000-03-01T00:00:00Z", "951868800"), ("2100-03-01T00:00:00Z", "4107542400"),
        ])
    func momentsAreReadAsSecondsOrRFC3339(text: String, expected: String) {
        #expect(seconds(text) == expected)
    }

    @Test(
        "Other text is no moment",
        arguments: [
            "-1", "1.5", "1e9", "2026-01-01", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00+2:00",
            "1969-12-31T23:59:59Z", "2107-01-01T00:00:00Z", "4294967295", "99999999999999999999", "tomorrow",
        ])
    func otherTextIsNoMoment(text: String) {
        #expect(UInt32(seconds(text)) == nil)
    }

    @Test("Milliseconds are recognised")
    func millisecondsAreRecognised() {
        #expect(
            seconds("1767225600000")
                == "the moment 1767225600000 is after 2106; expected seconds since 1970, these look like milliseconds")
    }
}
