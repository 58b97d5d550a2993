import AlertCore

extension APISession {
    /// The description of the API, as <https://spec.openapis.org/oas/v3.1.0> has it.
    func document() -> APIReply {
        APIReply(
            200, text: String(decoding: PackageResources.openapi_json, as: UTF8.self),
            as: "application/json")
    }
}
