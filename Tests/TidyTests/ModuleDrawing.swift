/// The README's drawing of which module imports which.
///
/// Each module has a row. A module that imports others also has a column: it begins with `+` in the
/// module's own row, and has `*` in the rows of those that it imports, all of them further down.
struct ModuleDrawing {
    /// The rows, without the descriptions to the right of them.
    let rows: [String]

    /// - Parameters:
    ///   - modules: The modules from top to bottom.
    ///   - imports: What each module imports.
    init(_ modules: [String], imports: [String: Set<String>]) {
        let columns = modules.enumerated().compactMap { top, module in
            let rows = modules.indices.filter {
                imports[module, default: []].contains(modules[$0])
            }
            return rows.last.map { (top: top, bottom: $0, imported: Set(rows)) }
        }
        let width = modules.map(\.count).max() ?? 0
        rows = modules.enumerated().map { row, module in
            let signs = columns.map { column in
                if row == column.top { return "+" }
                if column.imported.contains(row) { return "*" }
                return row > column.top && row < column.bottom ? "|" : " "
            }
            let name = module + String(repeating: " ", count: width - module.count)
            return ([name] + signs).joined(separator: " ")
        }
    }
}
