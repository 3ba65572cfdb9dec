/// A few linear equations.
enum LinearSystem {
    /// The x of matrix · x = right, by Gauss' elimination with pivots; nil when there is none or more than one.
    ///
    /// - Parameter least: pivots below it are none.
    static func solve(_ matrix: [[Double]], _ right: [Double], least: Double = 1e-300) -> [Double]? {
        var rows = zip(matrix, right).map { $0 + [$1] }
        let count = right.count
        for column in 0..<count {
            let pivot = (column..<count).max { abs(rows[$0][column]) < abs(rows[$1][column]) }!
            guard abs(rows[pivot][column]) > least else { return nil }
            rows.swapAt(column, pivot)
            for row in 0..<count where row != column {
                let factor = rows[row][column] / rows[column][column]
                guard factor != 0 else { continue }
                for place in column...count { rows[row][place] -= factor * rows[column][place] }
            }
        }
        return (0..<count).map { rows[$0][count] / rows[$0][$0] }
    }
}
