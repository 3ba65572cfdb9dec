import Foundation
import Testing

@testable import Payloads

@Suite struct SizedPayloadTests {
    private static func made(_ type: PushType, _ size: Int, sequence: UInt64 = 0) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: size + SizedPayload.slack)
        bytes.withUnsafeMutableBufferPointer {
            SizedPayload.write(
                type, size: size, run: RunID(0xABCD), sequence: sequence, unixTime: 1_700_000_000,
                into: $0.baseAddress!)
        }
        return Array(bytes[..<size])
    }

    @Test(
        "A payload has exactly the size asked for, is JSON with what its type needs, and the tag where that fits",
        arguments: PushType.allCases)
    func sizes(_ type: PushType) throws {
        var firstTraced: Int?
        var firstValid: Int?
        for size in Array(2...300) + [4096, 5120, 16_384] {
            for sequence in [0, 9, 10, 12_345, 99_999_999, 1 << 40] as [UInt64] {
                let bytes = Self.made(type, size, sequence: sequence)
                let object = try #require(
                    try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any],
                    "\(size): \(String(decoding: bytes, as: UTF8.self))")
                let isTraced = SizedPayload.fitsTag(type, size: size, sequence: sequence)
                let tag = object[TraceTag.key] as? String
                #expect((tag != nil) == isTraced, "\(size) \(sequence)")
                if let tag {
                    firstTraced = firstTraced ?? size
                    let read = Array(tag.utf8).withUnsafeBytes { TraceTag.parse($0) }
                    #expect(read?.run == RunID(0xABCD) && read?.sequence == sequence)
                }
                let aps = object["aps"] as? [String: Any]
                let isValid =
                    switch type {
                    case .alert: aps?["alert"] is String
                    case .background: aps?["content-available"] as? Int == 1
                    case .liveactivity:
                        aps?["event"] is String && aps?["content-state"] is [String: Any]
                            && aps?["timestamp"] as? Int == 1_700_000_000
                    case .widgets, .controls: aps?["content-changed"] as? Bool == true
                    case .mdm: object["mdm"] is String
                    default: aps != nil
                    }
                if isValid { firstValid = firstValid ?? size }
                // Once it can be valid it is; a tag takes nothing from that.
                #expect(isValid == (size >= firstValid ?? .max), "\(type) \(size)")
                #expect(!isTraced || isValid)
            }
        }
        #expect(firstValid != nil && firstTraced != nil && firstValid! < firstTraced! && firstTraced! < 120)
    }

    @Test("What is too small for an object is as much of one as fits")
    func small() {
        #expect(Self.made(.alert, 0) == [] && Self.made(.alert, 1) == Array("{".utf8))
        #expect(Self.made(.voip, 2) == Array("{}".utf8) && Self.made(.voip, 9) == Array("{}       ".utf8))
        #expect(Self.made(.voip, 10) == Array(#"{"aps":{}}"#.utf8))
    }
}
