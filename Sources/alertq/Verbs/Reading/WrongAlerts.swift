import AlertQueue

extension Command {
    /// Says what is wrong with alerts that the log contradicts, or that can't be read, as `show` does.
    static func report(_ ids: [Alert.ID], _ manager: AlertManager, in context: Context) async {
        for id in ids {
            var reason = "alert \(id) was changed while it was read"
            do { _ = try await manager.record(id) } catch { reason = "\(error)" }
            context.note("\(name): \(reason)")
        }
    }
}
