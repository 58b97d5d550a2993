#if Desktop
    import CSystemd

    /// libsystemd, which is loaded when something first needs it; see dlopen(3).
    ///
    /// Linked with the program, it would be loaded by every verb, with the six libraries that it
    /// needs itself: `alertq list --count` took 1.14 times as long. To measure it, add
    /// `link "systemd"` to the module map and compare the two builds.
    enum SystemdLibrary {
        /// Its functions, or why there are none.
        private static let loaded: Result<csystemd, BusError> = {
            withUnsafeTemporaryAllocation(of: csystemd.self, capacity: 1) { functions in
                guard let functions = functions.baseAddress else {
                    return .failure(.lost("no memory"))
                }
                if let reason = csystemd_load(functions) {
                    return .failure(.lost(String(cString: reason)))
                }
                return .success(functions.pointee)
            }
        }()

        /// Its functions, by their names in C.
        ///
        /// - Throws: ``BusError/lost(_:)`` where it is not installed.
        static func functions() throws(BusError) -> csystemd { try loaded.get() }

        static var isThere: Bool {
            if case .success = loaded { true } else { false }
        }
    }
#endif
