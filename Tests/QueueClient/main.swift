import Dispatch

// A user of the library as a separate process: it reads one JSON object a line, runs it as a
// request on one manager, and prints one JSON object a line. See `Session` for the requests.
Task.detached { await Session.main() }
dispatchMain()
