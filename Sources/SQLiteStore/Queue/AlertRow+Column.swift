import SQLite

extension AlertRow {
    /// The columns of an alert, in the order of the query.
    enum Column: Int, ColumnList {
        // Of the table `alerts`.
        case id, title, message, style, priority, buttons, info, defaultButton, handler
        case presenters, key, dismissAfterMs, snoozeMs, pid, host, boot, askedMs, askedBootMs
        case expiresMs, expiresBootMs, presentedMs, snoozes, snoozedMs, salt
        // Of the tables `sources` and `responses`.
        case sourceName, sourceUid
        case outcome, buttonIndex, resolvedBy, responderUid, user, via, tty, ssh, responderHost
        case responderPid, resolvedMs, collectedMs, handled
        // Of the table `alerts`, used only by the store.
        case sourceId, erasedSeq, state, cancelRequested

        var sql: String {
            switch self {
            case .id, .handler, .key, .pid, .host, .sourceId, .state: "alerts.\(snakeCased)"
            case .sourceName: "sources.name"
            case .sourceUid: "sources.uid"
            case .responderUid: "responses.uid"
            case .responderHost: "responses.host"
            case .responderPid: "responses.pid"
            default: snakeCased
            }
        }
    }
}
