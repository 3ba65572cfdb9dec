import Foundation
import Settings

/// How well a run is to know a figure of its total latency before it ends: `p99 +- 2 %`.
public struct Precision: Sendable, Equatable {
    /// The figures there are, with their percentiles.
    public static let figures: [(name: String, percentile: Double)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9),
    ]

    /// 50, 90, 99 or 99.9.
    public let percentile: Double
    /// Half of the 95 % interval's width as a share of the figure, at most.
    public let share: Double

    /// `p99 +- 2 %`
    public var text: String {
        let percent = (share * 100 * 1e6).rounded() / 1e6
        let written = percent == percent.rounded() ? "\(Int(percent))" : "\(percent)"
        return "\(Self.name(percentile)) +- \(written) %"
    }

    package static func name(_ percentile: Double) -> String {
        figures.first { $0.percentile == percentile }?.name ?? "p\(percentile)"
    }

    /// `p99 +- 2 %`, `p99+-2%`, `p99 ± 0.02`.
    public init(parsing text: String) throws(SettingsError) {
        let plain = text.replacingOccurrences(of: "±", with: "+-").filter { $0 != " " }
        let parts = plain.components(separatedBy: "+-")
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw SettingsError("\"\(text)\": expected a figure and how well it is to be known, as in p99 +- 2 %")
        }
        guard let figure = Self.figures.first(where: { $0.name == parts[0] }) else {
            throw SettingsError(
                "\"\(text)\": \"\(parts[0])\"" + NearestName.hint(parts[0], among: Self.figures.map(\.name)))
        }
        guard let share = try? Units.share(parts[1]), (0.001...0.5).contains(share) else {
            throw SettingsError("\"\(text)\": \"\(parts[1])\": expected 0.1 % to 50 % of the figure")
        }
        (percentile, self.share) = (figure.percentile, share)
    }
}
