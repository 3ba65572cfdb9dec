import Analysis
import Flags
import Harness
import Results
import Settings
import Statistics

/// The rounds of an A/B run: both sides once each, in an order that is drawn. A round in which a side's run went wrong is said and
/// left out, with both its runs.
struct ABRounds {
    typealias Run = (path: String, result: ResultDocument)

    /// How making them ended.
    enum End { case finished, interrupted, unreached }

    /// Of A and of B, as many of the one as of the other.
    private(set) var runs: [[Run]] = [[], []]
    /// What went wrong in rounds that were left out, one sentence each.
    private(set) var leftOut: [String] = []

    var whole: Int { runs[0].count }

    /// Whether B is run first, of each round: a toss of a coin, so that what runs do to the next one, or the machine to all,
    /// cannot take sides.
    ///
    /// - Parameter seed: the same seed gives the same order.
    static func order(of rounds: Int, seed: UInt64) -> [Bool] {
        var random = SplitMix(seed: seed)
        return (0..<rounds).map { _ in random.next() >> 63 == 1 }
    }

    /// Makes a round to be thrown away, then one of each order; no further one once the target cannot be reached.
    ///
    /// - Parameter keep: stores a whole run; returns what to call it in messages.
    /// - Throws: what makes the first round impossible, or a target that it does not reach.
    mutating func make(
        _ order: [Bool], of sides: [any ABSide], in series: RunSeries,
        keep: (ResultDocument, any ABSide, Int) throws(HarnessError) -> String
    ) async throws(HarnessError) -> End {
        for round in 0...order.count {
            var made: [Run?] = [nil, nil]
            for index in round > 0 && order[round - 1] ? [1, 0] : [0, 1] {
                let side = sides[index]
                let place = (round == 0 ? "warm-up" : "round \(round) of \(order.count)") + ", \(side.name)"
                let result: ResultDocument
                do throws(HarnessError) {
                    guard let made = try await side.execute(in: series) else { return .interrupted }
                    result = made
                } catch {
                    if round == 0 { throw error }
                    leaveOut(place, error.description)
                    break
                }
                if let why = RunVerdict.unreached(result) {
                    if round == 0 { throw HarnessError("\(side.name): \(why)", .failed) }
                    leaveOut(place, why)
                    return .unreached
                }
                guard result.run.complete, !result.run.interrupted else {
                    leaveOut(place, RunVerdict(result).problems.joined(separator: "; "))
                    break
                }
                Console.diagnostic("\(place): \(result.throughput.answeredText)\n")
                made[index] = (path: try round == 0 ? "" : keep(result, side, round), result: result)
            }
            if round > 0, let a = made[0], let b = made[1] {
                runs[0].append(a)
                runs[1].append(b)
            }
        }
        return .finished
    }

    private mutating func leaveOut(_ place: String, _ why: String) {
        leftOut.append("\(place): left out: \(why.split(separator: "\n").joined(separator: "; "))")
        Console.error(leftOut[leftOut.count - 1])
    }
}
