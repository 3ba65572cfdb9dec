import Foundation
import Results
import Testing

/// Figures taken apart: by connection, tag and status, and the round trip by its parts.
@Suite(.serialized, .waitsForPrograms) struct BreakdownRunTests {
    @Test(
        "The parts of the round trip are those the mock and its link were told to take", arguments: Programs.engines)
    func oneWay(_ engine: String) throws {
        let (result, status, error) = try Programs.load([
            "-n", "8000", "-m", "500", "-c", "2", "-t", "2", "--engine", engine, "--rtt", "60ms", "--mock-flags",
            "--latency=5ms",
        ])
        #expect(status == 0, "\(error)")
        let latency = result.latency
        // One in 16 is sampled.
        #expect(latency[.inMock].count == 500 && latency[.toMock].count == 500 && latency[.fromMock].count == 500)
        // Half the round trip each way; the bucket width of a histogram below.
        #expect(latency[.toMock].min >= 29_900_000 && latency[.fromMock].min >= 29_900_000, "\(latency)")
        #expect(latency[.inMock].min >= 4_990_000, "\(latency)")
        #expect(
            latency[.toMock].mean + latency[.inMock].mean + latency[.fromMock].mean <= Double(latency[.roundTrip].max))
    }

    @Test("Every push is in exactly one connection, one tag and one status")
    func dimensions() throws {
        let (result, _, _) = try Programs.load([
            "-n", "8000", "-c", "4", "-t", "2", "-m", "50", "--by", "connection,status", "--by", "tag:location_",
            "--by",
            "tag:nothing", "--expect-reasons", "Unregistered", "--mock-flags",
            "--fault-seed 1 --reject Unregistered=20% --silent 1%", "--timeout", "300ms",
        ])
        #expect(Set(result.breakdown.keys) == ["connection", "status", "tag:location_", "tag:nothing"])
        for (dimension, parts) in result.breakdown {
            let accepted = parts.values.reduce(0) { $0 + $1.accepted }
            let rejected = parts.values.reduce(0) { $0 + $1.rejected }
            let failed = parts.values.reduce(0) { $0 + $1.failed }
            #expect(accepted == result.pushes.accepted && rejected == result.pushes.rejected, "\(dimension)")
            #expect(parts.values.reduce(0) { $0 + $1.notSent } == 0, "\(dimension)")
            // What failed has no status.
            #expect(failed == (dimension == "status" ? 0 : result.pushes.failed), "\(dimension)")
        }
        #expect(Set(result.breakdown["connection"]!.keys) == ["0", "1", "2", "3"])
        #expect(result.breakdown["status"]!["410"]!.rejected == result.pushes.rejected)
        #expect(result.breakdown["tag:location_"]!.count == 8)
        #expect(Array(result.breakdown["tag:nothing"]!.keys) == ["(none)"])
    }

    @Test("Connections beyond the labels there may be are counted together")
    func many() throws {
        let (result, status, error) = try Programs.load(["-n", "4000", "-c", "80", "-m", "5", "--by", "connection"])
        #expect(status == 0, "\(error)")
        let parts = try #require(result.breakdown["connection"])
        #expect(parts.count == 64 && parts.values.reduce(0) { $0 + $1.accepted } == 4000)
        #expect((parts["(other)"]?.accepted ?? 0) > 0)
    }

    @Test("A warm-up that is looked for ends within a quarter of the run, and what follows is measured")
    func warmup() throws {
        let (result, status, error) = try Programs.load([
            "--rate", "2000", "--duration", "8s", "--warmup", "auto",
        ])
        #expect(status == 0, "\(error)")
        #expect(result.warmup.steady != nil && result.warmup.answered > 0)
        // The span and what was due in it belong together: one push more or less, not those of a look.
        let rates = result.throughput
        #expect(abs((rates.offered ?? 0) - 2000) <= 2 / rates.windowSeconds, "\(rates)")
        #expect(result.warmup.answered + result.latency[.total].count == result.pushes.accepted)
        #expect(result.latency[.total].count >= 16_000 / 2)
        let noted = result.notes.contains { $0.hasPrefix("rate and latency were not steady") }
        #expect(noted == (result.warmup.steady == false))
    }

    @Test("What is open when the last push has been taken is reported as cool-down")
    func cooldown() throws {
        let (result, status, error) = try Programs.load([
            "-n", "500", "-m", "1000", "--mock-flags", "--latency=3s",
        ])
        #expect(status == 0, "\(error)")
        // All are sent before the first answer comes.
        #expect(result.cooldown.pushes == 500 && result.cooldown.seconds >= 2.9, "\(result.cooldown)")
    }
}
