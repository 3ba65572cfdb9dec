import Foundation
import Testing

@testable import Payloads

/// FNV-1a over the first 10,000 pushes of a profile: what a seed gives stays the same from release to release and from
/// machine to machine, so that runs can be compared and repeated.
@Suite struct GoldenTests {
    private func hash(_ mix: ProfileMix, _ population: DevicePopulation, pushes: Range<UInt64>) -> UInt64 {
        let writer = PayloadWriter(
            mix: mix, population: population, run: RunID(0x0123_4567_89AB_CDEF), seed: 20_250_101)
        let size = writer.maximumPayloadSize + PayloadWriter.slack
        let guarded = 256
        let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: size + guarded)
        buffer.initialize(repeating: 0xA5, count: size + guarded)
        let token = UnsafeMutablePointer<UInt8>.allocate(capacity: population.longestToken)
        defer {
            buffer.deallocate()
            token.deallocate()
        }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) {
            for index in 0..<count { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
        }
        for sequence in pushes {
            let profile = writer.profileIndex(sequence: sequence)
            add(token, writer.writeToken(device: writer.device(sequence: sequence), into: token))
            add(
                buffer,
                writer.write(
                    sequence: sequence, profile: profile, unixTime: 1_700_000_000 &+ sequence, into: buffer))
        }
        #expect((size..<(size + guarded)).allSatisfy { buffer[$0] == 0xA5 }, "written beyond the slack")
        return hash
    }

    @Test(
        "The first 10,000 pushes of every profile are the same bytes for the same seed",
        arguments: [
            ("alert", UInt64(0xC62B_8AED_C744_61B9)),
            ("silent", 0xEF03_12CF_93E8_FEE1),
            ("rich", 0x1944_041A_E9EC_2DBD),
            ("live-activity", 0x6554_48EF_8660_289E),
            ("voip", 0xA055_4920_4ECE_CB0C),
            ("alert:80,silent:15,rich:5", 0xA5B8_FE82_BFFE_BC40),
        ])
    func profiles(_ mix: String, _ golden: UInt64) throws {
        let population = DevicePopulation.synthetic(SyntheticDevices(seed: 20_250_101, count: 7_000))
        #expect(hash(try ProfileMix(parsing: mix), population, pushes: 0..<10_000) == golden)
    }

    @Test("Every hole, with small and large numbers and devices from a file, gives the same bytes for the same seed")
    func holes() throws {
        let template = try PayloadTemplate(
            json: """
                {"aps":{},"i":[{{device_index}},{{sequence}},{{unix_time}},{{random(0,9)}},{{random(5,99999999)}},\
                {{random(5,100000000)}},{{random(1,9223372036854775807)}}],"s":"{{run_id}}{{device_token}}",\
                "t":["{{tag}}","{{tag(1)}}","{{tag(2)}}","{{tag(3)}}","{{tag(4)}}"],\
                "p":"{{pick(a||ccc)}}{{pick(\(String(repeating: "long ", count: 30))|short)}}",\
                "x":"{{text(0,40)}}{{text(3,3)}}{{text(8,70)}}{{sealed(0,64)}}"}
                """, name: "golden")
        let mix = ProfileMix(Profile(name: "golden", pushType: .alert, template: template))
        let synthetic = DevicePopulation.synthetic(SyntheticDevices(seed: 3, count: .max))
        #expect(hash(mix, synthetic, pushes: 0..<2_000) == 0x82FF_2A84_10E2_34D7)
        #expect(hash(mix, synthetic, pushes: 99_999_000..<100_001_000) == 0x554F_05EB_16BD_7238)
        #expect(hash(mix, synthetic, pushes: (UInt64.max - 1_000)..<UInt64.max) == 0x6DFF_2CA9_3A7D_F6F2)

        let path = FileManager.default.temporaryDirectory.appendingPathComponent("devices-\(UUID()).txt").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = (0..<100).map { line in
            String(repeating: "0a", count: 32) + ["", ",one", ",one;two", ",one;two;three;four;five"][line % 4]
        }
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        #expect(hash(mix, .listed(try DeviceFile(path: path)), pushes: 0..<2_000) == 0x130F_6021_6286_09A8)
    }
}
