import Settings

/// Colours of Okabe and Ito, which colour-blind readers can tell apart, each with a dash pattern of its own: colour is never
/// the only cue.
enum ChartStyle {
    static let light = ["#0072B2", "#D55E00", "#007A5A", "#A8447F", "#8A6100", "#3B3B3B"]
    static let dark = ["#56B4E9", "#FF8A3D", "#2BC79A", "#E59CC5", "#F0C040", "#D0D0D0"]
    private static let dashes = ["", "7 4", "2 3", "10 3 2 3", "14 5", "4 2"]

    static func colour(_ index: Int) -> String { "var(--c\(index % light.count))" }

    /// An attribute, or nothing. Every sixth line has the colour of the first, but its neighbour's pattern.
    static func dash(_ index: Int) -> String {
        let pattern = dashes[(index + index / light.count) % dashes.count]
        return pattern.isEmpty ? "" : " stroke-dasharray=\"\(pattern)\""
    }

    /// A point as a disc, a square, a triangle or a diamond.
    static func mark(_ index: Int, _ x: Double, _ y: Double) -> String {
        let corners: [(Double, Double)]
        switch index % 4 {
        case 1: corners = [(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)]
        case 2: corners = [(0, -4.2), (4, 3), (-4, 3)]
        case 3: corners = [(0, -4.6), (4.6, 0), (0, 4.6), (-4.6, 0)]
        default:
            return "<circle cx=\"\(Units.fixed(x, places: 1))\" cy=\"\(Units.fixed(y, places: 1))\" r=\"3.4\"/>"
        }
        let points = corners.map { "\(Units.fixed(x + $0.0, places: 1)),\(Units.fixed(y + $0.1, places: 1))" }
        return "<polygon class=\"mark\" points=\"\(points.joined(separator: " "))\"/>"
    }

    static func variables(_ colours: [String]) -> String {
        colours.enumerated().map { "--c\($0.offset):\($0.element)" }.joined(separator: ";")
    }
}
